/* Limits and what is left below them; and which requests there is room for. */

const NEAR_LIMIT = 0.9;

/** Show limits and room of the snapshot that is chosen; `load(lists)` shows the room. */
function mountLimits(host, app) {
  const limits = makeScroll("Limits of the process");
  const room = makeScroll("Room for a request");
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
  const text = formatUsed(used, maximum);
  return h(
    "span",
    { class: "meter-row" },
    h("span", { class: "meter", role: "img", "aria-label": `${limit}: ${text} used` }, fill),
    ` ${text}`,
  );
}

function drawRoom(app, lists, unit) {
  const title = h("h3", {}, "Room for one more request");
  if (lists === null) return [];
  const table = lists.room;
  if (table === null) return lists.why.room ? [title, h("p", { class: "note" }, lists.why.room)] : [];
  const names = ["upto", "outcome", "check", "available", "reason"];
  const heads = makeHeads(app, table, names, new Set(["upto", "available"]));
  const rows = Array.from({ length: table.rows }, (_, at) => drawStep(table, at, unit));
  return [title, h("table", { class: "data" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows))];
}

/** Draw a row of requests that are answered alike; the last one has no end that anyone could reach. */
function drawStep(table, at, unit) {
  const row = table.row(at);
  const isLast = at + 1 === table.rows;
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
      { scope: "row", class: "number", title: formatExact(row.upto) },
      isLast ? (at === 0 ? "any size" : "larger") : formatBytes(row.upto, unit),
    ),
    h("td", {}, makeOutcome(row.outcome)),
    h("td", {}, row.check ?? ""),
    amount(row.available),
    h("td", { class: "text" }, row.reason ?? ""),
  );
}
