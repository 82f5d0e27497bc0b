/* A table of any length: only the rows in sight are in the document. @tanstack/virtual-core says which these are.

   A source has `count`, `id(row)`, and for a tree `level(row)`, `isOpen(row)` (null without sub-rows). A column has
   `name`, `title`, `unit`, `meaning`, `value(row)`, and `fill(cell, row)` where it draws its cells itself. */

const ROW_HEIGHT = 26;
const ROWS_BEYOND = 10;
const PAGE_ROWS = 15;
const SAMPLE_ROWS = 300;
const NARROWEST = 5;
const WIDEST = 30;
const LAST_WIDTH = 40;

class Grid {
  selected = -1;
  highlight = "";
  unit = "auto";
  #rows = new Map();
  #spare = [];
  #columns = [];
  #source = { count: 0, id: () => 0 };
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
    host.append(this.element);
    this.virtual = new VirtualCore.Virtualizer(this.#options(0));
    this.virtual._didMount();
    this.virtual._willUpdate();
  }

  /** Show rows of a source in some columns, sorted by the column that `sort` names ("-size" is falling). */
  show(source, columns, sort) {
    this.#source = source;
    this.#columns = columns;
    this.#fillHead(sort);
    this.#setWidths();
    this.element.setAttribute("aria-rowcount", String(source.count + 1));
    this.element.setAttribute("aria-colcount", String(columns.length));
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
      scrollMargin: ROW_HEIGHT,
      scrollPaddingStart: ROW_HEIGHT,
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
    this.#pointAtSelected();
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
    element.style.setProperty("transform", `translateY(${index * ROW_HEIGHT}px)`);
    this.#markLevel(element, index);
    this.#markSelected(element, index);
    this.#columns.forEach((column, place) => this.#fillCell(element.children[place], column, index));
    return element;
  }

  #fillCell(cell, column, index) {
    const value = column.value(index);
    cell.className = isNumeric(column.unit) ? "number" : "";
    cell.title = explainValue(value, column.unit);
    if (column.fill) column.fill(cell, index, value, this.highlight);
    else fillMarked(cell, value === undefined ? "" : formatValue(value, column.unit, this.unit), this.highlight);
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
        const button = makeButton(column.title + arrow, column.meaning, press, { tabIndex: 0 });
        const side = isNumeric(column.unit) ? "number" : "";
        return h("div", { role: "columnheader", "aria-sort": order, class: side }, button);
      }),
    );
  }

  #setWidths() {
    const last = this.#columns.length - 1;
    const widths = this.#columns.map((column) => this.#measure(column));
    const cells = widths.map((width, place) => (place === last ? `minmax(${LAST_WIDTH}ch, 1fr)` : `${width}ch`));
    const least = widths.slice(0, last).reduce((sum, width) => sum + width, LAST_WIDTH);
    this.element.style.setProperty("--cells", cells.join(" "));
    this.element.style.setProperty("--least", `${least}ch`);
  }

  #measure(column) {
    const step = Math.max(1, Math.floor(this.#source.count / SAMPLE_ROWS));
    let longest = Math.max(NARROWEST, column.title.length + 1);
    for (let row = 0; row < this.#source.count; row += step) {
      const value = column.value(row);
      if (value !== undefined) longest = Math.max(longest, formatValue(value, column.unit, this.unit).length);
    }
    return Math.min(WIDEST, longest) + (column.extra ?? 0) + 2.5;
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
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE_ROWS, PageUp: -PAGE_ROWS, Home: -last - 1, End: last + 1 };
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
