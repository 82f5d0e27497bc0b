/* The regions of a snapshot: allocations that open into their regions, holes between them, and what is selected. */

const FIRST_COLUMNS = [
  "address",
  "type",
  "size",
  "committed",
  "private",
  "total_ws",
  "private_ws",
  "shareable_ws",
];
const MORE_COLUMNS = ["shared_ws", "locked_ws", "blocks", "protection"];
/* Left out where the screen is too narrow for all, the first of these first. */
const POOR_COLUMNS = ["locked_ws", "shared_ws", "blocks", "shareable_ws", "private_ws", "protection"];
const NARROW_COLUMNS = ["address", "type", "size", "private"];
const LAST_COLUMN = "details";
const NEVER_COLUMNS = new Set(["parent", "first", "before", "after", "end"]);
const NARROW_TYPE = 5;
const MOST_PROTECTION = 12;
const NARROW_SCREEN = "(max-width: 640px)";

/** Show the regions of the snapshot that is chosen. */
class RegionsView {
  #app;
  #tree = null;
  #nodes = [];
  #open = new Set();

  constructor(host, app) {
    this.#app = app;
    this.#makeTools(host);
    this.count = h("p", { class: "count", role: "status" });
    host.append(this.tools, this.count);
    this.grid = new Grid(host, "Regions", {
      onSort: (name) => this.#sort(name),
      onSelect: (row) => this.#choose(this.#nodes[row]),
      onToggle: (row, open) => this.#toggle(row, open),
      onKey: (event, row) => this.#press(event, row),
    });
    this.note = h("p", { class: "note", hidden: true });
    this.card = h("aside", { class: "card", "aria-label": "Selected region", hidden: true });
    host.append(this.note, this.card);
    app.state.subscribe(["type", "find", "free", "sort", "all", "unit"], () => this.#refresh());
    app.state.subscribe(["sel"], () => this.#reveal());
    matchMedia(NARROW_SCREEN).addEventListener("change", () => this.#refresh());
  }

  /** Show the lists of a snapshot; null where the page keeps none of them. */
  load(lists) {
    const known = lists !== null && lists.allocations !== null && lists.regions !== null;
    this.#tree = known ? new Tree(lists) : null;
    this.#open.clear();
    this.#explain(lists);
    this.#refresh();
    this.#reveal({ isAsked: false });
  }

  #explain(lists) {
    const missing = "This page keeps only the totals of this snapshot, to stay small.";
    const notes = lists === null ? [missing] : [lists.why.regions, ...lists.folded].filter(Boolean);
    this.note.textContent = notes.join(" ");
    this.note.hidden = notes.length === 0;
    this.grid.element.hidden = this.#tree === null;
    this.tools.hidden = this.#tree === null;
  }

  #makeTools(host) {
    const { state } = this.#app;
    this.find = makeFind("Find text or an address in any column", (text) =>
      state.set({ find: text || null }),
    );
    this.find.id = "find";
    this.find.placeholder = "Find text or address ( / )";
    this.free = makeCheck("Show free", "Show holes between regions", (on) => state.set({ free: on || null }));
    this.all = makeCheck("All columns", "Show every column of the data", (on) =>
      state.set({ all: on || null }),
    );
    this.type = makeTypeChoice(this.#app);
    const buttons = [
      makeButton("Open all", "Show the regions of every allocation", () => this.#openAll(true)),
      makeButton("Close all", "Show allocations only", () => this.#openAll(false)),
      makeButton("Copy table", "Copy the rows below as tab-separated values, with exact bytes", () =>
        this.#copyAll(),
      ),
    ];
    this.tools = h(
      "div",
      { class: "tools" },
      this.find,
      this.type.label,
      this.free.label,
      this.all.label,
      buttons,
    );
    host.classList.add("regions");
  }

  #choices() {
    const { state } = this.#app;
    const keys = ["type", "find", "free", "sort"];
    const chosen = Object.fromEntries(keys.map((key) => [key, state.get(key)]));
    return { ...chosen, unit: state.get("unit") ?? "auto", open: this.#open };
  }

  #refresh() {
    const choices = this.#choices();
    this.#showChoices(choices);
    if (this.#tree === null) return;
    this.#nodes = this.#tree.list(choices);
    this.grid.unit = choices.unit;
    this.grid.highlight = (choices.find ?? "").toLowerCase();
    this.grid.selected = this.#findSelected();
    this.grid.show(this.#makeSource(), this.#chooseColumns(), choices.sort ?? "address");
    this.#countRows();
  }

  #showChoices({ find, free }) {
    if (document.activeElement !== this.find) this.find.value = find ?? "";
    this.free.box.checked = Boolean(free);
    this.all.box.checked = Boolean(this.#app.state.get("all"));
    this.type.update();
  }

  #makeSource() {
    const tree = this.#tree;
    const nodes = this.#nodes;
    return {
      count: nodes.length,
      level: (row) => (tree.kind(nodes[row]) === REGION ? 2 : 1),
      isOpen: (row) => this.#isOpen(nodes[row]),
    };
  }

  #isOpen(node) {
    const tree = this.#tree;
    if (tree.kind(node) !== ALLOCATION || tree.children(tree.row(node)).length < 2) return null;
    return this.#open.has(tree.row(node));
  }

  #chooseColumns() {
    const all = Boolean(this.#app.state.get("all"));
    const known = this.#tree.columns();
    const wide = [...FIRST_COLUMNS, ...MORE_COLUMNS];
    const first = matchMedia(NARROW_SCREEN).matches && !all ? NARROW_COLUMNS : wide;
    const rest = known.map(({ name }) => name).filter((name) => !wide.includes(name) && name !== LAST_COLUMN);
    const names = [...first, ...(all ? rest : []), LAST_COLUMN];
    return names
      .filter((name) => !NEVER_COLUMNS.has(name) && known.some((column) => column.name === name))
      .filter((name) => name === LAST_COLUMN || !(all ? this.#tree.isEmpty(name) : this.#isSpare(name)))
      .map((name) => this.#describe(known.find((column) => column.name === name)));
  }

  #isSpare(name) {
    return FIRST_COLUMNS.includes(name) ? this.#tree.isEmpty(name) : this.#tree.isBlank(name);
  }

  #describe(column) {
    const isNarrow = matchMedia(NARROW_SCREEN).matches;
    const isAsked = Boolean(this.#app.state.get("all"));
    const fills = { address: this.#fillAddress, type: isNarrow ? this.#fillNarrowType : fillType };
    return {
      ...column,
      meaning: this.#app.define("regions", column.name),
      value: (row) => this.#valueOf(this.#nodes[row], column.name),
      fill: fills[column.name],
      side: column.name === "address" ? "address" : undefined,
      worth: isAsked || !POOR_COLUMNS.includes(column.name) ? undefined : POOR_COLUMNS.indexOf(column.name),
      extra: { address: 2.5, type: 3.5 }[column.name],
      most: column.name === "protection" ? MOST_PROTECTION : undefined,
      width: column.name === "type" && isNarrow ? NARROW_TYPE : undefined,
    };
  }

  #fillAddress = (cell, row, value, wanted) => {
    const open = this.#isOpen(this.#nodes[row]);
    const sign = open === null ? "" : open ? "▾" : "▸";
    const text = h("span", {});
    fillMarked(text, formatAddress(value), wanted.replace(/^0x0*/, ""));
    cell.replaceChildren(
      h("span", { class: open === null ? "no-twist" : "twist", "aria-hidden": "true" }, sign),
      text,
    );
  };

  /** Return the value of a node; the details of a hole are what lies around it. */
  #valueOf(node, name) {
    const tree = this.#tree;
    if (name !== LAST_COLUMN || tree.kind(node) !== HOLE) return tree.value(node, name);
    const [before, after] = RANGE_ENDS.map(([side, end]) => tree.value(node, side) ?? end);
    return `above ${before}, below ${after}`;
  }

  #fillNarrowType = (cell, row, value) => cell.replaceChildren(makeMark(value));

  #countRows() {
    const tree = this.#tree;
    const kinds = [0, 0, 0];
    for (const node of this.#nodes) kinds[tree.kind(node)] += 1;
    const all = tree.tables[ALLOCATION].rows;
    const some = kinds[ALLOCATION] === all ? "" : `${formatCount(kinds[ALLOCATION])} of `;
    const holes = kinds[HOLE] ? `, ${formatMany(kinds[HOLE], "hole")}` : "";
    const regions = formatMany(tree.tables[REGION].rows, "region");
    this.count.textContent = `${some}${formatMany(all, "allocation")}${holes} (${regions} in all)`;
  }

  #sort(name) {
    const unit = this.#tree.columns().find((column) => column.name === name).unit;
    this.#app.state.set({ sort: turnSort(this.#app.state.get("sort") ?? "address", name, unit) });
  }

  #toggle(row, open) {
    const node = this.#nodes[row];
    if (open) this.#open.add(this.#tree.row(node));
    else this.#open.delete(this.#tree.row(node));
    this.#refresh();
    this.grid.select(this.#nodes.indexOf(node));
    this.#choose(node);
  }

  #openAll(open) {
    this.#open = new Set(open ? Array(this.#tree.tables[ALLOCATION].rows).keys() : []);
    this.#refresh();
  }

  #choose(node) {
    this.chosen = node;
    this.#app.state.set({ sel: this.#addressOf(node) });
    this.#showCard(node);
  }

  #addressOf(node) {
    const address = this.#tree.value(node, "address");
    return address === null ? null : BigInt(address);
  }

  #findSelected() {
    return this.chosen === undefined || this.chosen === null ? -1 : this.#nodes.indexOf(this.chosen);
  }

  /** Show what lies at the chosen address; a hole is listed if it was asked for, not where another snapshot has one. */
  #reveal({ isAsked } = { isAsked: true }) {
    const address = this.#app.state.get("sel");
    if (this.#tree === null || address === null) return this.#forget();
    if (this.#isChosen(address)) return undefined;
    const node = this.#tree.locate(address);
    if (node === null) return this.#forget();
    if (isAsked && this.#tree.kind(node) === HOLE && !this.#nodes.includes(node)) this.#app.state.set({ free: true });
    this.chosen = this.#chooseRow(node, address);
    this.#refresh();
    this.grid.select(this.#findSelected(), "center");
    return this.#showCard(this.chosen);
  }

  #isChosen(address) {
    const chosen = this.chosen ?? null;
    return chosen !== null && this.#nodes.includes(chosen) && this.#addressOf(chosen) === address;
  }

  #chooseRow(node, address) {
    const parent = this.#tree.parent(node);
    if (parent === null) return node;
    const alone = this.#tree.children(this.#tree.row(parent)).length < 2;
    if (alone || (this.#addressOf(parent) === address && !this.#open.has(this.#tree.row(parent))))
      return parent;
    this.#open.add(this.#tree.row(parent));
    return node;
  }

  #forget() {
    this.chosen = null;
    this.card.hidden = true;
    this.grid.select(-1);
  }

  #press(event, row) {
    if (event.key === "c") this.#copyAddress(this.#nodes[row]);
    else if (event.key === "ArrowLeft" && this.#tree.kind(this.#nodes[row]) === REGION) {
      const parent = this.#nodes.indexOf(this.#tree.parent(this.#nodes[row]));
      this.grid.select(parent);
      this.#choose(this.#nodes[parent]);
    } else return false;
    return true;
  }

  #copyAddress(node) {
    const text = explainValue(this.#tree.value(node, "address"), "address");
    copyText(text, text);
  }

  #copyAll() {
    const tree = this.#tree;
    const words = ["allocation", "region", "hole"];
    const kind = { name: "row", unit: "text", value: (node) => words[tree.kind(node)] };
    const columns = tree.columns().filter(({ name, unit }) => unit !== "row" && !tree.isEmpty(name));
    const values = columns.map((column) => ({ ...column, value: (node) => tree.value(node, column.name) }));
    copyText(writeTsv([kind, ...values], this.#nodes), formatMany(this.#nodes.length, "row"));
  }

  #showCard(node) {
    fillCard(this.card, this.#app, this.#tree, node, () => this.#copyAddress(node));
  }
}

/** Make the choice of a type by which everything is filtered. */
function makeTypeChoice(app) {
  const options = [
    h("option", { value: "" }, "All types"),
    ...app.page.types.map((type) => h("option", {}, type)),
  ];
  const select = h(
    "select",
    { on: { change: () => app.state.set({ type: select.value || null }) } },
    options,
  );
  const update = () => (select.value = app.state.get("type") ?? "");
  return { label: h("label", { class: "check" }, "Type ", select), update };
}
