/* What changed between two snapshots: totals, types, what changed most, modules, threads. */

const DIFF_ALWAYS = ["size", "committed", "private", "total_ws", "private_ws", "shareable_ws", "shared_ws"];
const WORD_SIGNS = {
  new: "+",
  gone: "−",
  grown: "▲",
  shrunk: "▼",
  changed: "≠",
  moved: "→",
  same: "=",
  rebuilt: "↻",
  others: "…",
};
/** Columns of the lists of a comparison that show unless all are asked for; the most telling text is last. */
const DIFF_MAIN = {
  modules: ["word", "address_a", "address_b", "size_a", "size_b", "size_delta", "path"],
  threads: ["word", "tid", "state_a", "state_b", "name_a", "name_b"],
  ranges: [
    "word",
    "address_a",
    "address_b",
    "size_a",
    "size_b",
    "type_a",
    "type_b",
    "protection_a",
    "protection_b",
    "details_a",
    "details_b",
  ],
  largest_free: [
    "word",
    "address_a",
    "address_b",
    "size_a",
    "size_b",
    "size_delta",
    "taken_by",
    "given_back_by",
  ],
};
const DIFF_LISTS = [
  ["ranges", "Ranges of addresses"],
  ["modules", "Modules"],
  ["threads", "Threads"],
  ["matching", "How the two were matched"],
  ["largest_free", "Largest free block"],
];

/** Show the comparison of the pair that is chosen. */
function mountDiff(host, app) {
  const answer = h("div", {});
  const pickers = makePairPickers(app);
  if (pickers !== null) host.append(pickers.element);
  host.append(answer);
  let shown = null;
  async function update() {
    const pair = choosePair(app);
    pickers?.update(pair);
    const key = `${pair?.join("-")} ${app.snapshot().id} ${app.state.get("unit")} ${app.state.get("type")} ${app.state.get("all")}`;
    if (key === shown) return;
    shown = key;
    const diff = pair === null ? null : await findDiff(app, pair);
    if (key !== shown) return;
    answer.replaceChildren();
    if (diff === null) {
      answer.append(h("p", { class: "note" }, tellAlone(app)));
      return;
    }
    drawDiff(answer, app, diff);
  }
  update();
  app.state.subscribe(["diff", "snapshot", "unit", "type", "all"], update);
}

/** Say that the snapshot which is shown has no other to be compared with. */
function tellAlone(app) {
  return `${tellWhose(app, app.snapshot())}one snapshot of it here, which nothing is compared with`;
}

function makePairPickers(app) {
  const { snapshots } = app.page;
  if (snapshots.length < 2) return null;
  const choices = listMoments(app).map((text, id) => [String(id), text]);
  const choose = (place) => (value) => {
    const pair = [...(choosePair(app) ?? [app.snapshot().id, app.snapshot().id])];
    pair[place] = Number(value);
    app.state.set({ diff: pair });
  };
  const [before, after] = [makeSelect("Before", choices, choose(0)), makeSelect("After", choices, choose(1))];
  const element = h("div", { class: "tools" }, h("span", {}, "From"), before, h("span", {}, "to"), after);
  const update = (pair) => {
    before.value = String(pair?.[0] ?? "");
    after.value = String(pair?.[1] ?? "");
  };
  return { element, update };
}

function drawDiff(host, app, diff) {
  drawSums(host, app, diff);
  const movers = joinMovers(diff);
  if (movers?.rows) {
    host.append(h("h3", {}, nameMovers(diff)));
    drawMovers(host, app, diff.metric, movers);
  }
  for (const [name, title] of DIFF_LISTS) {
    if (diff.tables[name]?.rows) host.append(drawMore(app, diff.tables[name], name, title));
  }
  for (const note of diff.folded) host.append(h("p", { class: "note" }, note));
}

/** Draw what a comparison says in sums: its sentence, how it was made, totals and types. */
function drawSums(host, app, diff) {
  const unit = app.state.get("unit") ?? "auto";
  host.append(h("p", { class: "says" }, tellWhose(app, app.page.snapshots[diff.b]), diff.says ?? diff.changed));
  host.append(
    h(
      "p",
      { class: "about" },
      `${diff.mode === "summaries" ? "" : `mode ${diff.mode}: `}${diff.mode_reason}`,
    ),
  );
  host.append(
    h("div", { class: "pair" }, drawTotals(app, diff, unit), drawTypes(app, diff.tables.types, unit)),
  );
}

/** Return what changed most as one table of both sides; undefined where a comparison has none. */
function joinMovers({ tables, mode }) {
  return tables.joined ?? (tables.movers && joinSides(tables.movers, mode !== "same"));
}

function nameMovers({ metric }) {
  return `What changed most, by ${metric.replaceAll("_", " ")}`;
}

function drawTotals(app, diff, unit) {
  const { totals } = diff.tables;
  const rows = Array.from({ length: totals.rows }, (_, at) => totals.row(at)).filter(
    ({ metric, delta }) => DIFF_ALWAYS.includes(metric) || (delta !== null && delta !== 0),
  );
  const largest = Math.max(...rows.map(({ delta }) => Math.abs(Number(delta ?? 0))), 1);
  const body = rows.map((row) => drawTotal(app, row, largest, unit));
  body.push(drawMappings(diff.mappings));
  const heads = ["Before", "After", "Change"].map((text) => h("th", { scope: "col", class: "number" }, text));
  const head = h("tr", {}, h("th", { scope: "col" }, "Total"), heads, h("td", {}));
  const table = h("table", { class: "data" }, h("thead", {}, head), h("tbody", {}, body.filter(Boolean)));
  return makeScroll("Totals", table);
}

function drawTotal(app, row, largest, unit) {
  const side = (value, partial) =>
    h(
      "td",
      { class: "number", title: explainValue(value, "bytes") },
      `${partial && value !== null ? AT_LEAST : ""}${formatBytes(value, unit)}`,
    );
  const column = app.snapshot().summary.columns.find(({ name }) => name === row.metric);
  const note = row.note ? h("small", { class: "muted" }, ` ${row.note}`) : null;
  return h(
    "tr",
    { data: { metric: row.metric } },
    h("th", { scope: "row", title: app.define("summary", row.metric) }, column?.title ?? row.metric),
    side(row.a, row.partial_a),
    side(row.b, row.partial_b),
    drawChange(row.delta, "delta", unit),
    h("td", { class: "text" }, drawChangeBar(row.delta, largest), note),
  );
}

function drawMappings([before, after]) {
  if (before.count === null || after.count === null || before.applies === false) return null;
  const cells = [before.count, after.count].map((value) => h("td", { class: "number" }, formatCount(value)));
  const limit = after.limit === null ? "" : `of at most ${formatCount(after.limit)}`;
  const delta = subtractExact(after.count, before.count);
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, "Mappings"),
    cells,
    drawChange(delta, "count"),
    h("td", { class: "text muted" }, limit),
  );
}

function drawChange(value, unit, size) {
  const text = unit === "delta" ? formatValue(value, "delta", size) : formatChange(value, formatCount);
  return h("td", { class: `number ${changeClass(value)}`, title: explainValue(value, unit) }, text);
}

function changeClass(value) {
  if (value === null || BigInt(value) === 0n) return "zero";
  return BigInt(value) > 0n ? "up" : "down";
}

function drawChangeBar(value, largest) {
  const bar = h("span", { class: `change ${changeClass(value)}`, "aria-hidden": "true" });
  bar.style.setProperty("width", `${(Math.abs(Number(value ?? 0)) / largest) * 6}em`);
  return bar;
}

function drawTypes(app, types, unit) {
  const names = [...DIFF_ALWAYS, "blocks"].filter((name) => types.has(`${name}_delta`));
  const rows = types.column("type").map((type, row) => ({ type, row }));
  const changed = rows.filter(
    ({ type, row }) => type !== "Total" && names.some((name) => types.column(`${name}_delta`)[row]),
  );
  if (changed.length === 0) return h("p", { class: "note" }, "No type of memory changed.");
  const titles = names.map(
    (name) => app.snapshot().summary.columns.find((column) => column.name === name)?.title ?? name,
  );
  const heads = titles.map((title) => h("th", { scope: "col", class: "number" }, title));
  const body = changed.map(({ type, row }) => {
    const cells = names.map((name) => drawTypeChange(types, name, row, unit));
    const chosen = app.state.get("type") === type ? "chosen" : "";
    return h("tr", { class: chosen }, h("th", { scope: "row" }, makeMark(type), ` ${type}`), cells);
  });
  const table = h(
    "table",
    { class: "data" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Change by type"), heads)),
    h("tbody", {}, body),
  );
  return makeScroll("Change by type", table);
}

function drawTypeChange(types, name, row, unit) {
  const side = (end) => types.column(name + end)[row];
  const applies = name !== "blocks" || side("_a") !== null || side("_b") !== null;
  if (!applies) return h("td", { class: "number", title: "does not apply" }, NOT_APPLICABLE);
  return drawChange(side("_delta"), name === "blocks" ? "count" : "delta", unit);
}

function drawMovers(host, app, metric, table) {
  const { main, kept, shown } = chooseMovers(app, metric, table);
  if (!kept.rows) {
    host.append(h("p", { class: "note" }, tellNothingOf(app.state.get("type"))));
    return;
  }
  const place = h("div", { id: "movers" });
  host.append(place);
  if (shown.rows < kept.rows) {
    const count = formatCount(kept.rows - shown.rows);
    host.append(h("p", { class: "note" }, `${count} more changed only in figures that All columns shows.`));
  }
  if (!shown.rows) return;
  mountList(place, app, shown, {
    label: "What changed most",
    main,
    fill: { word: fillWord, address: fillPlace },
    onSelect: (row) => selectAddress(app, shown.column("address")[row]),
  });
}

/** Choose of what changed most the columns (`main`), what is of the type that is chosen (`kept`), and of that what
    moved in a column (`shown`). */
function chooseMovers(app, metric, table) {
  const type = app.state.get("type");
  const kept =
    type === null ? table : filterTable(table, (row) => row.type === type || row.word === "others");
  const main = listMoverColumns(metric, table.has("match"));
  const told = main.filter((name) => name.endsWith("_delta") && kept.has(name));
  const shown = app.state.get("all") ? kept : filterTable(kept, (row) => !isQuiet(row, told));
  return { main, kept, shown };
}

function tellNothingOf(type) {
  return `Nothing of type ${type} is among it.`;
}

/** Tell whether none of some figures of a change moved: that row would say nothing. What is unknown is told. */
function isQuiet(row, names) {
  return row.word === "changed" && !row.note && !row.was && names.every((name) => row[name] === 0);
}

function listMoverColumns(metric, matched) {
  const deltas = (names) => [...new Set(names)].map((name) => `${name}_delta`);
  if (matched)
    return ["word", "type", ...deltas([metric, "size", "total_ws"]), "confidence", "match", "note", "what"];
  const names = deltas([metric, "size", "committed", "total_ws", "swap", "lazyfree", "thp"]);
  return ["word", "type", ...names, "address", "note", "was", "protection", "details"];
}

/** Join the two sides of each change: what is there after, else what was there before. */
function joinSides(movers, matched) {
  const either = (name) =>
    movers.column(`${name}_b`).map((value, row) => value ?? movers.column(`${name}_a`)[row]);
  const text = (name, title) => ({ name, title, unit: "text" });
  const columns = [
    text("word", "Change"),
    text("type", "Type"),
    { name: "address", title: "Address", unit: "address" },
  ];
  const data = { word: movers.column("word"), type: either("type"), address: either("address") };
  for (const { name, title } of movers.columns.filter((column) => column.name.endsWith("_delta"))) {
    if (!movers.column(name).some((value) => value !== null && value !== 0)) continue;
    columns.push({ name, title: title.replace(/^Δ /, ""), unit: "delta" });
    data[name] = movers.column(name);
  }
  for (const name of ["unit", "match", "confidence", "note"]) {
    if (!matched && name !== "note") continue;
    const shown = name === "unit" ? "what" : name;
    columns.push(text(shown, shown[0].toUpperCase() + shown.slice(1)));
    data[shown] = movers.column(name);
  }
  columns.push(text("was", "Was"), text("protection", "Protection"), text("details", "Details"));
  data.was = listFormer(movers);
  Object.assign(data, { protection: either("protection"), details: nameRest(movers, either("details")) });
  return makeTable(movers.name, columns, data);
}

/** List the facts that a change had before and has no more; null where they are the same, or one side has none. */
function listFormer(movers) {
  const facts = ["type", "state", "protection", "details"].filter((name) => movers.has(`${name}_a`));
  return movers.column("word").map((word, row) => {
    const sides = facts.map((name) => [movers.column(`${name}_a`)[row], movers.column(`${name}_b`)[row]]);
    const former = sides.filter(([before, after]) => before !== null && after !== null && before !== after);
    return former.map(([before]) => before).join(", ") || null;
  });
}

function nameRest(movers, details) {
  const folded = movers.column("rows");
  return details.map((text, row) =>
    movers.column("word")[row] === "others" ? `${formatCount(folded[row])} more changes` : text,
  );
}

function filterTable(table, keep) {
  const rows = Array.from({ length: table.rows }, (_, row) => row).filter((row) => keep(table.row(row)));
  const data = Object.fromEntries(
    table.columns.map(({ name }) => [name, rows.map((row) => table.column(name)[row])]),
  );
  return makeTable(table.name, table.columns, data);
}

function fillWord(cell, row, value) {
  cell.replaceChildren(
    h("span", { class: `word ${value}`, "aria-hidden": "true" }, WORD_SIGNS[value] ?? ""),
    ` ${value}`,
  );
}

/** Draw an address; what has none, as page tables and the folded rest, has nothing there to be unknown. */
function fillPlace(cell, row, value, wanted) {
  fillMarked(cell, value === null ? "" : formatAddress(value), wanted);
}

/** Return what draws one side of a change: nothing where that side has nothing, as before what is new. */
function fillSide({ name, unit }) {
  const write = name.startsWith("type")
    ? fillType
    : (cell, row, value, wanted) => fillMarked(cell, formatValue(value, chooseUnit({ name, unit })), wanted);
  return (cell, row, value, wanted) =>
    value === null ? cell.replaceChildren() : write(cell, row, value, wanted);
}

function drawMore(app, table, name, title) {
  const place = h("div", {});
  const more = h("details", {}, h("summary", {}, `${title} (${formatCount(table.rows)})`), place);
  const fill = { word: fillWord };
  for (const column of table.columns) if (/_[ab]$/.test(column.name)) fill[column.name] = fillSide(column);
  const main = DIFF_MAIN[name];
  const show = () => mountList(place, app, table, { label: `${title} that differ`, main, fill });
  more.addEventListener("toggle", show, { once: true });
  return more;
}

/** Select the region at an address of the page's data, if there is one. */
function selectAddress(app, address) {
  if (address !== null && address !== undefined) app.state.set({ sel: BigInt(address) });
}
