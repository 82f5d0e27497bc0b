/* The address space of the snapshot that is chosen: the map, in windows at full scale or with empty stretches
   folded; and beside it holes, splitters and the curve of the free space. */

const FOLDED = "f";
const FULL_SCALE_BITS = 33n; // a range this small is shown at full scale unless a reader asks otherwise
const MAP_ROWS = [6, 9];
const MAP_HEIGHT = 32;
const TELL_VIEW_MS = 200;

/** Show the map of the snapshot that is chosen. */
function mountMap(host, app) {
  const view = new AddressMap(host, app);
  const load = async () => {
    const { id } = app.snapshot();
    const lists = await app.lists(id);
    if (app.snapshot().id === id) view.load(lists);
  };
  app.state.subscribe(["snapshot"], load);
  load();
}

class AddressMap {
  #app;
  #lists = null;
  #space = null;
  #mode = null;
  #tellView = delay(TELL_VIEW_MS, () => this.#writeState());

  constructor(host, app) {
    this.#app = app;
    this.note = h("p", { class: "note", hidden: true });
    this.#makeTools();
    this.figures = h("p", { class: "about" });
    host.append(this.note, this.tools, this.figures);
    this.map = new MapView(host, {
      types: app.page.types,
      heights: [MAP_HEIGHT],
      rows: MAP_ROWS,
      label: "Map of the address space: arrow keys go from region to region, plus and minus zoom, Enter selects",
      choose: (address) => app.state.set({ sel: address }),
      told: () => this.#tellView(),
    });
    this.panels = h("div", { class: "panels" });
    this.legend = makeLegend(app.page.types);
    host.append(this.legend, this.panels);
    app.state.subscribe(["sel", "type"], () => this.#mark());
    app.state.subscribe(["map"], () => this.#readState());
    app.state.subscribe(["unit"], () => this.#drawPanels());
  }

  /** Show the lists of a snapshot; null where the page keeps none of them. */
  load(lists) {
    const why = explainNoMap(lists);
    this.note.textContent = why ?? "";
    this.note.hidden = why === null;
    for (const part of [this.tools, this.figures, this.map.element, this.legend, this.panels]) part.hidden = why !== null;
    this.#lists = why === null ? lists : null;
    if (why !== null) return;
    this.#space = new Space(lists, this.#app.page.types);
    this.#mode = null;
    this.#listModes();
    this.#readState();
    this.#mark();
  }

  #makeTools() {
    this.mode = makeSelect("Which part of the address space", [], (value) => this.#app.state.set({ map: value }));
    const zoom = (factor) => () => this.map.zoom(factor);
    this.go = h("input", {
      type: "search",
      placeholder: "Go to address or low-high",
      "aria-label": "Go to an address, or to a range as low-high, in hex",
      on: { change: () => this.#goTo(this.go.value) },
    });
    const buttons = [
      makeButton("−", "Zoom out ( − )", zoom(1 / ZOOM_STEP), { "aria-label": "Zoom out" }),
      makeButton("+", "Zoom in ( + )", zoom(ZOOM_STEP), { "aria-label": "Zoom in" }),
      makeButton("All", "Show the whole of it ( 0 )", () => this.map.showAll()),
    ];
    this.tools = h("div", { class: "tools" }, this.mode, h("span", { class: "picker" }, buttons), this.go);
  }

  #listModes() {
    const { windows } = this.#lists;
    const choices = [[FOLDED, "All, empty stretches folded"]];
    const names = windows === null ? [] : windows.column("window");
    names.forEach((name, row) => choices.push([`w${row}`, `${name[0].toUpperCase()}${name.slice(1)}, to scale: ${formatBytes(windows.column("size")[row])}`]));
    this.mode.replaceChildren(...choices.map(([value, text]) => h("option", { value }, text)));
  }

  #usable() {
    return this.#app.snapshot().usable.slice(0, 2).map(BigInt);
  }

  #defaultMode() {
    const [low, high] = this.#usable();
    return this.#lists.windows !== null && high - low < 1n << FULL_SCALE_BITS ? "w0" : FOLDED;
  }

  /** Follow the choice of a reader: a mode, and the addresses in sight if it is not the whole. */
  #readState() {
    if (this.#lists === null) return;
    const [, mode, low, high] = /^(f|w\d{1,3})?(?:\.([0-9a-f]{1,16})-([0-9a-f]{1,16}))?$/.exec(this.#app.state.get("map") ?? "") ?? [];
    const isKnown = mode !== undefined && [...this.mode.options].some(({ value }) => value === mode);
    this.#setMode(isKnown ? mode : this.#defaultMode());
    if (this.#encode() === (this.#app.state.get("map") ?? "")) return;
    if (low === undefined) this.map.showAll();
    else this.map.zoomTo(BigInt(`0x${low}`), BigInt(`0x${high}`), 0);
  }

  #setMode(mode) {
    if (this.#mode === mode) return;
    this.#mode = mode;
    this.mode.value = mode;
    const { windows } = this.#lists;
    const row = this.#window();
    const bounds = mode === FOLDED ? this.#usable() : ["low", "high"].map((name) => windows.exact(name, row));
    const layout = mode === FOLDED ? layFolded([this.#space], ...bounds) : layStraight(...bounds);
    this.map.show({ layout, tracks: [makeTrack(this.#space, layout)], leastBytes: this.#app.snapshot().page_size });
    this.#drawPanels();
  }

  #window() {
    return this.#mode === FOLDED ? 0 : Number(this.#mode.slice(1));
  }

  #encode() {
    if (this.map.isWhole) return this.#mode === this.#defaultMode() ? "" : this.#mode;
    const [low, high] = this.map.range;
    return `${this.#mode}.${low.toString(16)}-${high.toString(16)}`;
  }

  #writeState() {
    if (this.#lists !== null) this.#app.state.set({ map: this.#encode() || null });
  }

  #mark() {
    const type = this.#app.state.get("type");
    this.map.mark(this.#app.state.get("sel"), type === null ? null : this.#app.page.types.indexOf(type));
  }

  /** Go to what a reader typed: an address, or a range; beyond the window of now all is shown first. */
  #goTo(text) {
    const [, low, high] = /^\s*(?:0x)?([0-9a-f]{1,16})(?:\s*[-–]\s*(?:0x)?([0-9a-f]{1,16}))?\s*$/i.exec(text) ?? [];
    if (low === undefined) {
      if (text !== "") announce("An address is hex digits, a range two of them: 7f00-7fff");
      return;
    }
    const start = BigInt(`0x${low}`);
    if (high === undefined) this.#showItem(start);
    else this.#show(start, BigInt(`0x${high}`), 0);
  }

  #showItem(address) {
    const item = this.#space.find(address);
    if (item === NOTHING) announce("No region or hole of this page lies there");
    else this.#show(this.#space.starts[item], this.#space.ends[item], 1, address);
  }

  #show(low, high, margin, select = null) {
    const { windows } = this.#lists;
    const row = this.#window();
    if (this.#mode !== FOLDED && !isWithin(windows, row, low, high)) this.#setMode(isWithin(windows, 0, low, high) ? "w0" : FOLDED);
    this.map.zoomTo(low, high, margin);
    if (select !== null) this.#app.state.set({ sel: select });
  }

  #drawPanels() {
    if (this.#lists === null) return;
    const { windows, free, why } = this.#lists;
    if (windows === null || free === null) {
      this.figures.textContent = why.free ?? "";
      this.panels.replaceChildren();
      return;
    }
    const unit = this.#app.state.get("unit") ?? "auto";
    this.figures.replaceChildren(...describeWindow(windows.row(this.#window()), unit));
    const go = (low, high, select = low) => this.#show(low, high, 0.1, select);
    this.panels.replaceChildren(...drawSpace(this.#lists, this.#window(), unit, go));
  }
}

/** Say why there is no map of the lists of a snapshot; null where there is one. */
function explainNoMap(lists) {
  if (lists === null) return "This page keeps only the totals of this snapshot, to stay small: there is no map of it.";
  if (lists.regions === null) return lists.why.regions;
  return lists.regions.rows === 0 && !lists.free?.rows ? "No regions: there is nothing to draw." : null;
}

/** Say how a window is divided, as `mmp free` does. */
function describeWindow({ window, free, holes, largest, mapped, unusable, external, note }, unit) {
  const size = (value) => h("b", { title: formatExact(value) }, formatBytes(value, unit));
  const index = external === null ? "" : ` External fragmentation is ${external.toFixed(3)}.`;
  const lost = Number(unusable) > 0 ? [", ", size(unusable), " unusable"] : [];
  const spaces = [": ", size(free), ` free in ${formatCount(holes)} ${holes === 1 ? "hole" : "holes"}, the largest `, size(largest)];
  const told = [`${window[0].toUpperCase()}${window.slice(1)}`, ...spaces, "; ", size(mapped), " mapped", ...lost, ".", index];
  return note === null ? told : [...told, ` ${note[0].toUpperCase()}${note.slice(1)}.`];
}

/** Make the key to the colours and letters of a map. */
function makeLegend(types) {
  const entries = types.filter((type) => type !== "Page Table").map((type) => h("span", {}, makeMark(type), ` ${type}`));
  const hatched = h("span", {}, h("span", { class: "mark hatched", "aria-hidden": "true" }), " hatched: reserved, unusable, or grey: folded");
  const low = h("span", {}, h("span", { class: "mark low", "aria-hidden": "true" }), " low: covers part of that stretch");
  return h("p", { class: "legend muted" }, entries, hatched, low);
}
