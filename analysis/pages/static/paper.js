/* What is printed: tables of what is chosen, and of which snapshot each section is. */

/** What is printed of the lists of a snapshot: columns, by which the rows are sorted, how many at most. */
const PAPER_FIGURES = ["size", "committed", "private", "total_ws"];
const PAPER_ROWS = 25;
const PAPER_LISTS = [
  {
    section: "map",
    name: "windows",
    title: "Free space",
    columns: ["window", "size", "mapped", "unusable", "free", "holes", "largest"],
  },
  {
    section: "map",
    name: "splitters",
    title: "Splitters",
    columns: ["address", "size", "type", "details", "merged"],
    most: 10,
  },
  { section: "threads", name: "threads", columns: ["tid", "name", "state", "stack", "size", "committed"] },
  { section: "modules", name: "modules", columns: ["address", ...PAPER_FIGURES, "path"], sort: "size" },
  { section: "heaps", name: "heaps", columns: ["name", "address", ...PAPER_FIGURES], sort: "size" },
  { section: "processes", name: "processes", columns: ["pid", "ppid", "user", "name", "rss", "private"] },
];
const PAPER_REGIONS = ["address", "type", ...PAPER_FIGURES, "protection", "details"];
const PAPER_CHANGES = ["word", "path", "size_delta"];
const NOT_LOADED = "The lists of this snapshot were not loaded yet when this was printed.";

/** Makes what is printed: tables of what is chosen in place of the lists that scroll, on white, and below each
    heading of which snapshot it is. A browser prints at once, so all of it is at hand before. */
class PaperView {
  #app;
  #timeline;
  #lists = { id: null, lists: null };
  #diff = { pair: null, diff: null };
  #theme = null;

  constructor(app, timeline) {
    this.#app = app;
    this.#timeline = timeline;
    app.state.subscribe(["snapshot", "diff", "time", "type"], () => this.#update());
    addEventListener("beforeprint", () => this.#open());
    addEventListener("afterprint", () => this.#close());
    this.#update();
  }

  load(lists) {
    this.#lists = { id: this.#app.snapshot().id, lists };
  }

  async #update() {
    const pair = choosePair(this.#app);
    for (const place of document.querySelectorAll("section > .whose")) place.textContent = this.#tellWhose(place, pair);
    const diff = pair === null ? null : await findDiff(this.#app, pair);
    if (String(pair) === String(choosePair(this.#app))) this.#diff = { pair, diff };
  }

  /** Tell of which snapshot, or of which two, a section is; what does not follow the choice keeps what it says. */
  #tellWhose(place, pair) {
    const { id } = place.parentElement;
    if (id === "roles") return place.textContent;
    if (id === "timeline" && this.#timeline !== null) return this.#timeline.tellDrawn();
    if (id !== "diff" || pair === null) return tellSnapshot(this.#app, this.#app.snapshot());
    const [from, to] = pair.map((each) => tellSnapshot(this.#app, this.#app.page.snapshots[each]));
    return `From ${from} to ${to}`;
  }

  #open() {
    const root = document.documentElement;
    this.#close();
    this.#theme = root.dataset.theme ?? "auto";
    root.dataset.theme = "light";
    for (const [section, parts] of this.#draw()) {
      document.getElementById(section)?.append(h("div", { class: "paper" }, parts));
    }
    this.#timeline?.chart.print(true);
  }

  #close() {
    if (this.#theme === null) return;
    document.documentElement.dataset.theme = this.#theme;
    this.#theme = null;
    for (const paper of document.querySelectorAll(".paper")) paper.remove();
    this.#timeline?.chart.print(false);
  }

  /** Return what is printed by section. */
  #draw() {
    const { id, lists } = this.#lists;
    const sections = new Map(["map", "regions", ...LISTS.map(({ name }) => name)].map((name) => [name, []]));
    if (id !== this.#app.snapshot().id || lists === null) {
      const why = id === this.#app.snapshot().id ? "This page keeps only the totals of this snapshot." : NOT_LOADED;
      for (const parts of sections.values()) parts.push(h("p", { class: "note" }, why));
    } else {
      sections.get("regions").push(...printRegions(this.#app, lists));
      for (const list of PAPER_LISTS) sections.get(list.section).push(printList(this.#app, lists, list));
    }
    return sections.set("diff", this.#drawDiff());
  }

  #drawDiff() {
    const pair = choosePair(this.#app);
    if (pair === null) return [h("p", { class: "note" }, tellAlone(this.#app))];
    if (String(pair) !== String(this.#diff.pair)) return [h("p", { class: "note" }, NOT_LOADED)];
    return printDiff(this.#app, this.#diff.diff);
  }
}

/** Name a snapshot wherever it is printed: its process, its number, its file and its time. */
function tellSnapshot({ page }, snapshot) {
  const { id, label } = snapshot;
  const place = page.snapshots.length > 1 ? `snapshot ${formatCount(id + 1)} of ${formatCount(page.snapshots.length)}` : null;
  return [nameProcess(snapshot), place, label, listTimes(page)[id]].filter(Boolean).join(", ");
}

function printList(app, lists, { name, title, columns, sort, most }) {
  const table = lists[name];
  if (table?.rows) return printTable(app, table, title, columns, { rows: sortRows(table, sort), most });
  const why = table ? "There are none." : (lists.why[name] ?? "Not known.");
  return h("p", { class: "note" }, title === undefined ? why : `${title}: ${why}`);
}

/** List the rows of a table, the largest by a column first. */
function sortRows(table, sort) {
  const rows = Array.from({ length: table.rows }, (_, row) => row);
  return sort && table.has(sort) ? rows.sort(compareBy(table.column(sort), "bytes", true)) : rows;
}

/** Print the allocations that are chosen; where none is of the type, as of Free, the holes that are. */
function printRegions(app, lists) {
  const notes = lists.folded.map((note) => h("p", { class: "note" }, note));
  if (!lists.allocations || !lists.regions) return [h("p", { class: "note" }, lists.why.regions ?? "Not known."), ...notes];
  const [type, find, chosen] = ["type", "find", "sort"].map((key) => app.state.get(key));
  const unit = app.state.get("unit") ?? "auto";
  const tree = new Tree(lists);
  const sort = chosen ?? (type === "Free" ? "-size" : "-committed");
  const nodes = tree.list({ type, find, free: false, sort, unit, open: new Set() });
  const kind = nodes.some((node) => tree.kind(node) === ALLOCATION) ? ALLOCATION : HOLE;
  const rows = nodes.filter((node) => tree.kind(node) === kind).map((node) => tree.row(node));
  const told = [type && `with ${type}`, find && `with “${clipText(find)}”`, chosen && `sorted by ${chosen.replace(/^-/, "").replaceAll("_", " ")}`];
  const heading = [chosen ? "Allocations" : "Largest allocations", ...told].filter(Boolean).join(", ");
  if (rows.length === 0) return [h("p", { class: "note" }, `${heading}: there are none.`), ...notes];
  return [printTable(app, tree.tables[kind], heading, PAPER_REGIONS, { rows }), ...notes];
}

/** Print a comparison: sums, what changed most, modules. */
function printDiff(app, diff) {
  const host = h("div", {});
  drawSums(host, app, diff);
  const joined = joinMovers(diff);
  if (joined?.rows) {
    const { main, kept, shown } = chooseMovers(app, diff.metric, joined);
    const columns = main.filter((name, place) => !shown.has(name) || !shown.isBlank(name) || place === main.length - 1);
    if (!kept.rows) host.append(h("p", { class: "note" }, `${nameMovers(diff)}. ${tellNothingOf(app.state.get("type"))}`));
    else if (shown.rows) host.append(printTable(app, shown, nameMovers(diff), columns));
  }
  const { modules } = diff.tables;
  if (modules?.rows) host.append(printTable(app, modules, "Modules that changed", PAPER_CHANGES));
  for (const note of diff.folded) host.append(h("p", { class: "note" }, note));
  return [host];
}

/** Make a plain table of some columns and rows, as far as they are known; a section of one table needs no `heading`. */
function printTable(app, table, heading, names, { rows = sortRows(table), most = PAPER_ROWS } = {}) {
  const unit = app.state.get("unit") ?? "auto";
  const columns = names.map((name) => table.columns.find((column) => column.name === name)).filter((column) => column && !table.isEmpty(column.name));
  const sides = columns.map(({ name, unit: kind }) => (isNumeric(kind) ? "number" : name === "type" ? "short" : ""));
  const heads = columns.map(({ title }, place) => h("th", { scope: "col", class: sides[place] }, title));
  const write = (column, value) => (value === null && column.unit === "address" ? "" : formatValue(value, chooseUnit(column), unit));
  const body = rows.slice(0, most).map((row) =>
    h("tr", {}, columns.map((column, place) => h("td", { class: sides[place] }, write(column, table.column(column.name)[row])))),
  );
  const more = rows.length > most ? `${formatCount(most)} of ${formatCount(rows.length)} rows` : null;
  const told = [heading, more].filter(Boolean).join(": ");
  return h("table", { class: "plain" }, told && h("caption", {}, told), h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body));
}
