/* The summary by type: three bars on one scale, and VMMap's table. Pressing a type filters the whole page. */

const BARS = [
  ["committed", "Committed"],
  ["private", "Private"],
  ["total_ws", "Working set"],
];
const NO_BAR = new Set(["Total", "Free", "Unusable"]);
const SUMMARY_ALWAYS = [
  "size",
  "committed",
  "private",
  "total_ws",
  "private_ws",
  "shareable_ws",
  "shared_ws",
  "locked_ws",
  "blocks",
  "largest",
];
const WITHOUT_BLOCKS = new Set(["Page Table", "Unusable"]);
const BLOCK_COLUMNS = new Set(["blocks", "allocations", "largest"]);
const LETTER_SHARE = 0.02;

/** Show the summary of the snapshot that is chosen. */
function mountSummary(host, app) {
  const bars = h("div", { class: "bars" });
  const table = makeScroll("Summary by type");
  const all = makeCheck("All columns", "Show every figure that is known", (on) =>
    app.state.set({ all: on || null }),
  );
  const tools = h(
    "div",
    { class: "tools" },
    all.label,
    makeButton("Copy table", "Copy as tab-separated values", copy),
  );
  host.append(bars, table, tools);
  function copy() {
    const { summary } = app.snapshot();
    const columns = summary.columns.map((column) => ({
      ...column,
      value: (row) => summary.column(column.name)[row],
    }));
    copyText(writeTsv(columns, [...Array(summary.rows).keys()]), formatMany(summary.rows, "row"));
  }
  function update() {
    const { summary } = app.snapshot();
    all.box.checked = Boolean(app.state.get("all"));
    const isKnown = summary.columns.some(({ name, unit }) => unit !== "text" && !summary.isEmpty(name));
    bars.replaceChildren(...(isKnown ? drawBars(app, summary) : [h("p", { class: "note" }, "No figure of its memory is known.")]));
    table.replaceChildren(isKnown ? drawSummary(app, summary) : "");
    tools.hidden = !isKnown;
  }
  update();
  app.state.subscribe(["snapshot", "type", "unit", "all"], update);
}

function drawBars(app, summary) {
  const scale = Math.max(...BARS.map(([name]) => sumParts(summary, name)), 1);
  return BARS.filter(([name]) => summary.has(name)).map(([name, title]) =>
    drawBar(app, summary, name, title, scale),
  );
}

function listParts(summary, name) {
  const types = summary.column("type");
  const parts = types.map((type, row) => ({ type, row, size: summary.number(name, row) }));
  return parts.filter(({ type, size }) => !NO_BAR.has(type) && size);
}

function sumParts(summary, name) {
  return listParts(summary, name).reduce((sum, { size }) => sum + size, 0);
}

function drawBar(app, summary, name, title, scale) {
  const total = summary.column(name)[0] ?? null;
  const parts = listParts(summary, name).map((part) => drawPart(app, summary, name, part, scale));
  const bar = h("div", { class: "bar", role: "group", "aria-label": `${title} by type` }, parts);
  const least = listPartial(summary, 0).has(name) ? AT_LEAST : "";
  const text = total === null ? "not known" : `${least}${formatBytes(total, app.state.get("unit") ?? "auto")}`;
  return h(
    "div",
    { class: "bar-row" },
    h("span", { class: "bar-title" }, title),
    bar,
    h("b", { class: "number", title: explainValue(total, "bytes") }, text),
  );
}

function drawPart(app, summary, name, { type, row, size }, scale) {
  const exact = summary.column(name)[row];
  const share = formatShare(exact, summary.column(name)[0]);
  const label = `${type}: ${formatBytes(exact)}, ${share}`;
  const isOff = app.state.get("type") !== null && app.state.get("type") !== type;
  const part = makeButton(
    size / scale > LETTER_SHARE ? (TYPE_MARKS[type]?.letter ?? "") : "",
    `${label} (${formatExact(exact)})`,
    () => toggleType(app, type),
    { class: `part ${typeClass(type)}${isOff ? " off" : ""}`, "aria-label": label },
  );
  part.setAttribute("aria-pressed", String(app.state.get("type") === type));
  part.style.setProperty("width", `${(size / scale) * 100}%`);
  return part;
}

function toggleType(app, type) {
  app.state.set({ type: app.state.get("type") === type ? null : type });
}

function drawSummary(app, summary) {
  const columns = summary.columns.filter(
    ({ name, unit }) => unit !== "text" && isSummaryColumn(app, summary, name),
  );
  const heads = columns.map(({ name, title }) =>
    h("th", { scope: "col", class: "number", title: app.define("summary", name) }, title),
  );
  const rows = summary.column("type").map((type, row) => drawType(app, summary, columns, type, row));
  return h(
    "table",
    { class: "data summary" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Type"), heads)),
    h("tbody", {}, rows),
  );
}

function isSummaryColumn(app, summary, name) {
  if (summary.isEmpty(name)) return false;
  return SUMMARY_ALWAYS.includes(name) || Boolean(app.state.get("all"));
}

function drawType(app, summary, columns, type, row) {
  const partial = listPartial(summary, row);
  const cells = columns.map((column) => drawFigure(app, summary, column, row, type, partial));
  const chosen = app.state.get("type") === type;
  const name =
    type === "Total"
      ? makeButton("Total", "Show all types", () => app.state.set({ type: null }), { class: "type" })
      : makeButton("", `Filter the page by ${type}`, () => toggleType(app, type), { class: "type" });
  if (type !== "Total") name.append(makeMark(type), ` ${type}`);
  name.setAttribute("aria-pressed", String(chosen));
  const kind = `${type === "Total" ? "total" : ""}${chosen ? " chosen" : ""}`;
  return h("tr", { class: kind, data: { type } }, h("th", { scope: "row" }, name), cells);
}

/** List the figures of a row of which not all is known: what is told is the least that it can be. */
function listPartial(summary, row) {
  return new Set((summary.column("partial")[row] ?? "").split(", "));
}

function drawFigure(app, summary, { name, unit }, row, type, partial) {
  const value = summary.column(name)[row];
  const applies = !(BLOCK_COLUMNS.has(name) && WITHOUT_BLOCKS.has(type));
  if (value === null && !applies)
    return h("td", { class: "number", title: "does not apply" }, NOT_APPLICABLE);
  const least = partial.has(name) && value !== null;
  const text = formatValue(value, unit, app.state.get("unit") ?? "auto");
  const title = `${explainValue(value, unit)}${least ? ", or more: not all of it is known" : ""}`;
  const zero = value === 0 ? " zero" : "";
  return h("td", { class: `number${zero}`, title, data: { column: name } }, `${least ? AT_LEAST : ""}${text}`);
}
