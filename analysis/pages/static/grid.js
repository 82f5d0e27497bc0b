/* A table of any length: only the rows in sight are in the document. @tanstack/virtual-core says which these are.

   A source has `count`, and for a tree `level(row)`, `isOpen(row)` (null without sub-rows). A column has
   `name`, `title`, `unit`, `meaning`, `value(row)`, and `fill(cell, row)` where it draws its cells itself; one
   with a `worth` is left out where the screen is too narrow for all, that of least worth first. */

const ROW_HEIGHT = 26;
const HEAD_HEIGHT = 44;
const HEAD_LINES = 2;
const ROWS_BEYOND = 10;
const PAGE_ROWS = 15;
const SAMPLE_ROWS = 300;
const NARROWEST = 4;
const WIDEST = 30;
const PATH = /^(\/|[A-Za-z]:\\|\\\\)/;
const LAST_WIDTH = 26;
const CELL_PADDING = 2.2;
const TEXT_WIDTH = 0.95; // of text beside digits, in a proportional font

class Grid {
  selected = -1;
  highlight = "";
  unit = "auto";
  room = LAST_WIDTH; // characters of the last column
  #rows = new Map();
  #spare = [];
  #columns = [];
  #source = { count: 0 };
  #calls;

  /** `calls` has onSort(name), onSelect(row), onToggle(row, open) and onKey(event, row); each may be missing. */
  constructor(host, label, calls = {}) {
    this.#calls = calls;
    this.id = host.id || `grid-${label.replace(/\W+/g, "-").toLowerCase()}`;
    this.head = h("div", { class: "grid-head", role: "row", "aria-rowindex": "1" });
    this.body = h("div", { class: "grid-body", role: "rowgroup" });
    const role = calls.onToggle ? "treegrid" : "grid";
    const top = h("div", { role: "rowgroup", class: "grid-top" }, this.head);
    this.element = h("div", { class: "grid", role, "aria-label": label, tabIndex: 0 }, top, this.body);
    this.element.addEventListener("keydown", (event) => this.#press(event));
    this.body.addEventListener("click", (event) => this.#click(event));
    const cue = h("p", { class: "cue", "aria-hidden": "true" }, "more columns: scroll →"); // below, so that it covers no row
    host.append(this.element, cue);
    watchEdges(this.element);
    this.virtual = new VirtualCore.Virtualizer(this.#options(0));
    this.virtual._didMount();
    this.virtual._willUpdate();
  }

  /** Show rows of a source in some columns, sorted by the column that `sort` names ("-size" is falling). */
  show(source, columns, sort) {
    this.#source = source;
    this.#columns = this.#leaveOut(columns, sort);
    this.#fillHead(sort);
    this.#setWidths();
    this.element.setAttribute("aria-rowcount", String(source.count + 1));
    this.element.setAttribute("aria-colcount", String(this.#columns.length));
    this.body.style.setProperty("height", `${source.count * ROW_HEIGHT}px`);
    this.virtual.setOptions(this.#options(source.count));
    this.virtual.measure();
    this.repaint();
  }

  /** Fill the rows in sight anew. */
  repaint() {
    for (const element of this.#rows.values()) this.#release(element);
    this.#rows.clear();
    this.virtual._willUpdate();
    this.#paint();
  }

  /** Select a row, and bring it in sight; -1 selects none. */
  select(row, align = "auto") {
    this.selected = row;
    if (row >= 0) this.virtual.scrollToIndex(row, { align });
    for (const [index, element] of this.#rows) this.#markSelected(element, index);
    this.#pointAtSelected();
  }

  #options(count) {
    return {
      count,
      getScrollElement: () => this.element,
      estimateSize: () => ROW_HEIGHT,
      overscan: ROWS_BEYOND,
      scrollMargin: HEAD_HEIGHT,
      scrollPaddingStart: HEAD_HEIGHT,
      initialRect: { width: 800, height: 600 },
      scrollToFn: VirtualCore.elementScroll,
      observeElementRect: VirtualCore.observeElementRect,
      observeElementOffset: VirtualCore.observeElementOffset,
      onChange: () => this.#paint(),
    };
  }

  #paint() {
    const items = this.virtual.getVirtualItems();
    const wanted = new Set(items.map((item) => item.index));
    for (const [index, element] of this.#rows) {
      if (wanted.has(index)) continue;
      this.#rows.delete(index);
      this.#release(element);
    }
    for (const { index } of items) {
      if (index < this.#source.count && !this.#rows.has(index)) this.#rows.set(index, this.#place(index));
    }
    if (!this.virtual.isScrolling) this.#putInOrder(items); // moving rows costs more than filling them
    this.#pointAtSelected();
  }

  /** Let rows follow each other in the document as they do on the screen: they are read in that order. */
  #putInOrder(items) {
    let next = this.body.firstElementChild;
    for (const { index } of items) {
      const element = this.#rows.get(index);
      while (next?.hidden) next = next.nextElementSibling;
      if (element === next) next = next.nextElementSibling;
      else if (element) this.body.insertBefore(element, next);
    }
  }

  #release(element) {
    element.hidden = true;
    this.#spare.push(element);
  }

  #place(index) {
    const element = this.#spare.pop() ?? this.body.appendChild(h("div", { class: "grid-row", role: "row" }));
    while (element.childElementCount > this.#columns.length) element.lastElementChild.remove();
    while (element.childElementCount < this.#columns.length) element.append(h("div", { role: "gridcell" }));
    element.hidden = false;
    element.id = `${this.id}-${index}`;
    element.dataset.row = String(index);
    element.setAttribute("aria-rowindex", String(index + 2));
    element.style.setProperty("top", `${index * ROW_HEIGHT}px`);
    this.#markLevel(element, index);
    this.#markSelected(element, index);
    this.#columns.forEach((column, place) => this.#fillCell(element.children[place], column, index));
    return element;
  }

  #fillCell(cell, column, index) {
    const value = column.value(index);
    cell.className = value === 0 ? `${sideOf(column)} zero` : sideOf(column);
    cell.title = value === undefined ? "" : explainValue(value, column.unit);
    if (column.fill) column.fill(cell, index, value, this.highlight);
    else fillMarked(cell, this.#write(column, value), this.highlight);
  }

  /** Write a value; of a path that is too long for the last column what tells files apart. */
  #write(column, value) {
    if (value === undefined) return "";
    const text = formatValue(value, column.unit, this.unit);
    const isLong = column === this.#columns.at(-1) && text.length > this.room && PATH.test(text);
    const short = isLong ? keepName(text, this.room) : text;
    const [isThere, isSeen] = [text, short].map((each) => each.toLowerCase().includes(this.highlight));
    return isThere && !isSeen ? text : short;
  }

  #markLevel(element, index) {
    if (!this.#source.level) return;
    const open = this.#source.isOpen(index);
    element.dataset.level = String(this.#source.level(index));
    element.setAttribute("aria-level", element.dataset.level);
    if (open === null) element.removeAttribute("aria-expanded");
    else element.setAttribute("aria-expanded", String(open));
  }

  #markSelected(element, index) {
    element.setAttribute("aria-selected", String(index === this.selected));
  }

  #pointAtSelected() {
    if (this.#rows.has(this.selected)) {
      this.element.setAttribute("aria-activedescendant", `${this.id}-${this.selected}`);
    } else this.element.removeAttribute("aria-activedescendant");
  }

  #fillHead(sort) {
    const [, falling, by] = /^(-?)(.*)$/.exec(sort ?? "");
    this.head.replaceChildren(
      ...this.#columns.map((column) => {
        const order = column.name !== by ? "none" : falling ? "descending" : "ascending";
        const arrow = order === "none" ? "" : falling ? " ▼" : " ▲";
        const press = () => this.#calls.onSort?.(column.name);
        const button = makeButton(column.title + arrow, column.meaning, press);
        return h("div", { role: "columnheader", "aria-sort": order, class: sideOf(column) }, button);
      }),
    );
  }

  /** Leave out columns of little worth until the rest fits; never the one that rows are sorted by. */
  #leaveOut(columns, sort) {
    const room = this.element.clientWidth / this.#measureDigit();
    const kept = [...columns];
    const spare = columns.filter(({ name, worth }) => worth !== undefined && name !== sort?.replace("-", ""));
    spare.sort((one, other) => one.worth - other.worth);
    const measure = () => this.#listWidths(kept).reduce((sum, width) => sum + width, 0);
    while (room && spare.length && measure() > room) kept.splice(kept.indexOf(spare.shift()), 1);
    return kept;
  }

  #listWidths(columns) {
    const last = columns.length - 1;
    return columns.map((column, place) =>
      place === last && sideOf(column) === "" ? LAST_WIDTH : this.#measure(column),
    );
  }

  /** Return the pixels of one `ch`, which depends on the font that a system has. */
  #measureDigit() {
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = getComputedStyle(this.element).font;
    return pen.measureText("0").width;
  }

  #setWidths() {
    const last = this.#columns.length - 1;
    const stretches = last >= 0 && sideOf(this.#columns[last]) === "";
    const widths = this.#listWidths(this.#columns);
    const cells = widths.map((width) => `${width}ch`);
    if (stretches) cells[last] = `minmax(${LAST_WIDTH}ch, 1fr)`;
    const least = widths.reduce((sum, width) => sum + width, 0);
    this.element.style.setProperty("--cells", cells.join(" "));
    this.element.style.setProperty("--least", `${least}ch`);
    this.#measureRoom(least);
  }

  #measureRoom(least) {
    const whole = this.element.clientWidth / this.#measureDigit();
    this.room = Math.floor(Math.max(LAST_WIDTH, LAST_WIDTH + whole - least) - CELL_PADDING);
  }

  #measure(column) {
    if (column.width) return column.width;
    const step = Math.max(1, Math.floor(this.#source.count / SAMPLE_ROWS));
    const words = column.title.split(" ").map((word) => word.length + 1);
    let longest = Math.max(NARROWEST, column.title.length / HEAD_LINES + 2, ...words);
    for (let row = 0; row < this.#source.count; row += step) {
      const value = column.value(row);
      if (value !== undefined) longest = Math.max(longest, formatValue(value, column.unit, this.unit).length);
    }
    const narrower = column.unit === "text" ? TEXT_WIDTH : 1;
    return Math.min(column.most ?? WIDEST, longest) * narrower + (column.extra ?? 0) + CELL_PADDING;
  }

  #click(event) {
    const element = event.target.closest(".grid-row");
    if (element === null) return;
    const row = Number(element.dataset.row);
    if (event.target.closest(".twist")) this.#calls.onToggle?.(row, !this.#source.isOpen(row));
    else {
      this.select(row);
      this.#calls.onSelect?.(row);
    }
  }

  #press(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.#source.count - 1;
    const moves = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: PAGE_ROWS,
      PageUp: -PAGE_ROWS,
      Home: -last - 1,
      End: last + 1,
    };
    if (event.key in moves && last >= 0) {
      const row = Math.min(last, Math.max(0, this.selected + moves[event.key]));
      this.select(row);
      this.#calls.onSelect?.(row);
    } else if (this.selected < 0 || !this.#pressOnRow(event)) return;
    event.preventDefault();
  }

  #pressOnRow(event) {
    const open = this.#source.isOpen?.(this.selected) ?? null;
    if (event.key === "Enter" || event.key === " ") {
      if (open !== null) this.#calls.onToggle?.(this.selected, !open);
      else this.#calls.onSelect?.(this.selected);
    } else if (event.key === "ArrowRight" && open === false) this.#calls.onToggle?.(this.selected, true);
    else if (event.key === "ArrowLeft" && open === true) this.#calls.onToggle?.(this.selected, false);
    else return this.#calls.onKey?.(event, this.selected) ?? false;
    return true;
  }
}

/** Shorten a path to so many characters: all of the file's name stays if it can, else its two ends. */
function keepName(path, room) {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  if (name.length + 2 <= room) return `…${path.slice(1 - room)}`;
  const left = room - 3;
  return `…/${name.slice(0, left >> 1)}…${name.slice((left >> 1) - left)}`;
}

function sideOf(column) {
  return column.side ?? (isNumeric(column.unit) ? "number" : "");
}
