/* The comparison of two snapshots: the one that the page holds, else what their summaries tell.

   A difference of sums is unknown where one side does not know all of it: like things only are compared. */

const COMPARED = [
  "size", "committed", "private", "commit_charge", "total_ws", "private_ws", "shareable_ws", "shared_ws", "locked_ws",
  "cow_shared", "uss", "pss", "swap", "lazyfree", "thp",
];
const PAIR_REASON =
  "the page holds no comparison of these two: the two summaries are subtracted, mmp diff also lists what moved";

/** Return the comparison of two snapshots by their ids. */
function findDiff(page, [a, b]) {
  return page.diffs.find((diff) => diff.a === a && diff.b === b) ?? subtractSummaries(page, a, b);
}

function subtractSummaries(page, a, b) {
  const [before, after] = [page.snapshots[a], page.snapshots[b]];
  const types = subtractTypes(before.summary, after.summary);
  return {
    a, b, says: null, mode: "summaries", mode_reason: PAIR_REASON, metric: "private",
    mappings: [before.mappings, after.mappings],
    tables: { totals: turnTotals(types), types },
    folded: [],
  };
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
  const others = before.column("type").map((_, each) => each).filter((each) => each > 0);
  const alike = (each) => (before.column(name)[each] === null) === (after.column(name)[each] === null);
  return row > 0 || others.every(alike);
}

function turnTotals(types) {
  const names = COMPARED.filter((name) => types.has(`${name}_a`));
  const take = (end) => names.map((name) => types.column(name + end)[0]);
  const columns = [["metric", "text"], ["a", "bytes"], ["b", "bytes"], ["delta", "bytes"]];
  return makeTable(
    "totals",
    columns.map(([name, unit]) => ({ name, unit, title: name })),
    { metric: names, a: take("_a"), b: take("_b"), delta: take("_delta") },
  );
}
