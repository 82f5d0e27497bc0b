/* Limits and what is left below them; and whether there is room for a request. */

const OUTCOME_MARKS = { fits: "✓", "does not fit": "✗", "cannot tell": "?" };
const NEAR_LIMIT = 0.9;

/** Show limits and room of the snapshot that is chosen; `load(lists)` shows the room. */
function mountLimits(host, app) {
  const limits = h("div", {
    class: "scroll",
    tabIndex: 0,
    role: "region",
    "aria-label": "Limits of the process",
  });
  const room = h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Room for a request" });
  host.append(limits, room);
  let lists = null;
  function update() {
    const unit = app.state.get("unit") ?? "auto";
    limits.replaceChildren(drawLimits(app, app.snapshot().limits, unit));
    room.replaceChildren(...drawRoom(app, lists, unit));
  }
  update();
  app.state.subscribe(["snapshot", "unit"], update);
  return {
    load: (loaded) => {
      lists = loaded;
      update();
    },
  };
}

function makeHeads(app, table, names, numeric) {
  return names.map((name) => {
    const { title } = table.columns.find((column) => column.name === name);
    return h(
      "th",
      { scope: "col", class: numeric.has(name) ? "number" : "", title: app.define(table.name, name) },
      title,
    );
  });
}

function drawLimits(app, table, unit) {
  const numbers = ["used", "maximum", "headroom"];
  const heads = makeHeads(app, table, ["limit", ...numbers], new Set(numbers));
  const rows = Array.from({ length: table.rows }, (_, at) => drawLimit(table.row(at), numbers, unit));
  const head = h("tr", {}, heads, h("th", { scope: "col" }, "Used of it"), h("th", { scope: "col" }, "Note"));
  return h("table", { class: "data" }, h("thead", {}, head), h("tbody", {}, rows));
}

function drawLimit(row, numbers, unit) {
  const kind = row.unit === "bytes" ? "bytes" : "count";
  const cells = numbers.map((name) => {
    const none = row[name] === null && name !== "used";
    const text = none ? NOT_APPLICABLE : formatValue(row[name], kind, unit);
    return h("td", { class: "number", title: explainValue(row[name], kind) }, text);
  });
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, row.limit),
    cells,
    h("td", {}, drawMeter(row)),
    h("td", { class: "text" }, row.reason ?? ""),
  );
}

function drawMeter({ limit, used, maximum }) {
  if (used === null || maximum === null || Number(maximum) === 0) return "";
  const share = Math.min(1, Number(used) / Number(maximum));
  const fill = h("span", { class: share >= NEAR_LIMIT ? "near" : "" });
  fill.style.setProperty("width", `${share * 100}%`);
  const text = formatShare(used, maximum);
  return h(
    "span",
    { class: "meter-row" },
    h("span", { class: "meter", role: "img", "aria-label": `${limit}: ${text} used` }, fill),
    ` ${text}`,
  );
}

function drawRoom(app, lists, unit) {
  const title = h("h3", {}, "Is there room for…");
  if (lists === null) return [];
  if (lists.fits === null) return lists.why.fits ? [title, h("p", { class: "note" }, lists.why.fits)] : [];
  const table = lists.fits;
  const names = ["request", "outcome", "check", "available", "reason"];
  const heads = makeHeads(app, table, names, new Set(["request", "available"]));
  const rows = Array.from({ length: table.rows }, (_, at) => drawRequest(table.row(at), unit));
  return [title, h("table", { class: "data" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows))];
}

function drawRequest(row, unit) {
  const outcome = `${OUTCOME_MARKS[row.outcome] ?? ""} ${row.outcome}`;
  const kind = `outcome ${row.outcome.replaceAll(" ", "-")}`;
  const amount = (value) =>
    h(
      "td",
      { class: "number", title: explainValue(value, "bytes") },
      value === null ? NOT_APPLICABLE : formatBytes(value, unit),
    );
  return h(
    "tr",
    {},
    h(
      "th",
      { scope: "row", class: "number", title: formatExact(row.request) },
      formatBytes(row.request, unit),
    ),
    h("td", {}, h("span", { class: kind }, outcome)),
    h("td", {}, row.check ?? ""),
    amount(row.available),
    h("td", { class: "text" }, row.reason ?? ""),
  );
}
