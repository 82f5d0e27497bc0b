/* The comparison of two snapshots: the one that the page holds, else what their summaries tell.

   A difference of sums is unknown where one side does not know all of it: like things only are compared. */

const COMPARED = [
  "size",
  "committed",
  "private",
  "commit_charge",
  "total_ws",
  "private_ws",
  "shareable_ws",
  "shared_ws",
  "locked_ws",
  "cow_shared",
  "uss",
  "pss",
  "swap",
  "lazyfree",
  "thp",
];
const PAIR_REASON = "the two summaries are subtracted";
const PAIR_MOVERS = "allocations are matched by where they begin; mmp diff compares every range";
const MOST_MOVERS = 200;

/** Return a promise of the comparison of two snapshots by their ids. */
function findDiff(app, [a, b]) {
  const key = `${a}-${b}`;
  if (!app.diffs.has(key)) {
    const held = app.page.diffs.find((diff) => diff.a === a && diff.b === b);
    app.diffs.set(key, held ? Promise.resolve(held) : subtractSnapshots(app, a, b));
  }
  return app.diffs.get(key);
}

async function subtractSnapshots(app, a, b) {
  const [before, after] = [app.page.snapshots[a], app.page.snapshots[b]];
  const types = subtractTypes(before.summary, after.summary);
  const tables = { totals: turnTotals(types), types };
  const movers = isOneProcess(app.page, a, b) ? compareLists(await app.lists(a), await app.lists(b), types) : null;
  if (movers !== null) tables.joined = movers;
  const reason = movers === null ? PAIR_REASON : `${PAIR_REASON}, ${PAIR_MOVERS}`;
  const mappings = [before.mappings, after.mappings];
  return {
    a,
    b,
    says: null,
    changed: tellChanges(types),
    moved: "",
    mode: "summaries",
    mode_reason: reason,
    metric: "private",
    mappings,
    tables,
    folded: [],
  };
}

function isOneProcess(page, a, b) {
  return page.timelines.some(({ snapshots }) => snapshots.includes(a) && snapshots.includes(b));
}

/** Compare the allocations of two lists by their first address; null where one is not kept whole. */
function compareLists(before, after, types) {
  const isWhole = (lists) => lists?.allocations && lists.folded.length === 0;
  if (!isWhole(before) || !isWhole(after)) return null;
  const names = COMPARED.filter((name) => before.allocations.has(name) && after.allocations.has(name));
  const rows = pairAllocations(before.allocations, after.allocations)
    .map((pair) => describeChange(pair, before.allocations, after.allocations, names))
    .filter((row) => row.word !== "same");
  rows.push(...describePageTables(types, names));
  const weigh = (row) =>
    Math.abs(Number(row.private_delta ?? 0)) || Math.abs(Number(row.size_delta ?? 0)) / 2 ** 40;
  rows.sort((a, b) => weigh(b) - weigh(a) || compareExact(a.address ?? -1, b.address ?? -1));
  if (rows.length > MOST_MOVERS) rows.push(foldChanges(rows.splice(MOST_MOVERS), names));
  return tabulateChanges(rows, names, after.allocations);
}

/** Pair the rows of two tables by address; null where a side has none. */
function pairAllocations(before, after) {
  const places = new Map(before.column("address").map((address, row) => [String(address), row]));
  const pairs = after.column("address").map((address, row) => {
    const other = places.get(String(address)) ?? null;
    places.delete(String(address));
    return [other, row];
  });
  return [...pairs, ...[...places.values()].map((row) => [row, null])];
}

function describeChange([a, b], before, after, names) {
  const [old, now] = [a === null ? null : before.row(a), b === null ? null : after.row(b)];
  const { type, address, protection, details } = now ?? old;
  const was = old !== null && now !== null && old.type !== now.type ? old.type : null;
  const row = { word: nameChange(old, now, names), type, address, was, protection, details };
  for (const name of names) row[`${name}_delta`] = subtractExact(now ? now[name] : 0, old ? old[name] : 0);
  return row;
}

/** Describe how the page tables changed, which no allocation holds. */
function describePageTables(types, names) {
  const row = types.column("type").indexOf("Page Table");
  const changes = Object.fromEntries(names.map((name) => [`${name}_delta`, row < 0 ? null : types.column(`${name}_delta`)[row]]));
  const size = changes.size_delta ?? 0;
  if (row < 0 || size === 0) return [];
  return [{ word: size > 0 ? "grown" : "shrunk", type: "Page Table", address: null, was: null, protection: null, details: "Page Table", ...changes }];
}

function nameChange(old, now, names) {
  if (old === null) return "new";
  if (now === null) return "gone";
  const order = compareExact(now.size, old.size);
  if (order !== 0) return order > 0 ? "grown" : "shrunk";
  return old.type === now.type && names.every((name) => old[name] === now[name]) ? "same" : "changed";
}

function foldChanges(rows, names) {
  const rest = {
    word: "others",
    type: null,
    address: null,
    was: null,
    protection: null,
    details: `${formatCount(rows.length)} more changes`,
  };
  for (const name of names) {
    rest[`${name}_delta`] = rows.reduce((sum, row) => addExact(sum, row[`${name}_delta`]), 0);
  }
  return rest;
}

function tabulateChanges(rows, names, described) {
  const text = (name) => ({ name, title: name === "word" ? "Change" : name[0].toUpperCase() + name.slice(1), unit: "text" });
  const deltas = names.map((name) => ({
    name: `${name}_delta`,
    title: described.columns.find((column) => column.name === name).title,
    unit: "delta",
  }));
  const address = { name: "address", title: "Address", unit: "address" };
  const columns = [text("word"), text("type"), address, ...deltas, text("was"), text("protection"), text("details")];
  const data = Object.fromEntries(columns.map(({ name }) => [name, rows.map((row) => row[name])]));
  return makeTable("diff-movers", columns, data);
}

function subtractTypes(before, after) {
  const names = COMPARED.filter((name) => before.has(name) && after.has(name));
  const columns = [{ name: "type", title: "Type", unit: "text" }];
  const data = { type: before.column("type") };
  for (const name of [...names, "blocks"]) {
    const { unit, title } = before.columns.find((column) => column.name === name);
    data[`${name}_a`] = before.column(name);
    data[`${name}_b`] = after.column(name);
    data[`${name}_delta`] = data[`${name}_a`].map((value, row) =>
      isComparable(before, after, name, row) ? subtractExact(data[`${name}_b`][row], value) : null,
    );
    for (const end of ["_a", "_b", "_delta"]) columns.push({ name: name + end, title, unit });
  }
  return makeTable("types", columns, data);
}

function isComparable(before, after, name, row) {
  const isWhole = (table) => !(table.column("partial")[row] ?? "").split(", ").includes(name);
  if (!isWhole(before) || !isWhole(after)) return false;
  const others = before
    .column("type")
    .map((_, each) => each)
    .filter((each) => each > 0);
  const alike = (each) => (before.column(name)[each] === null) === (after.column(name)[each] === null);
  return row > 0 || others.every(alike);
}

function turnTotals(types) {
  const names = COMPARED.filter((name) => types.has(`${name}_a`));
  const take = (end) => names.map((name) => types.column(name + end)[0]);
  const columns = [
    ["metric", "text"],
    ["a", "bytes"],
    ["b", "bytes"],
    ["delta", "bytes"],
  ];
  return makeTable(
    "totals",
    columns.map(([name, unit]) => ({ name, unit, title: name })),
    { metric: names, a: take("_a"), b: take("_b"), delta: take("_delta") },
  );
}
