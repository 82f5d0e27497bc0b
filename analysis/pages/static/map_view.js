/* A map on the page: one or more spaces on the same line, which a reader zooms, pans and walks through.

   Two canvases lie upon each other, so that a mark that follows the pointer costs no painting of the map. */

const MAP_WIDE = 700; // pixels from which a map has few long rows
const MAP_LABEL = 17; // above each row, for its address
const MAP_GAP = 5;
const MAP_LANE = 12; // between two tracks, for what changed
const MOST_RATIO = 2;
const ZOOM_STEP = 2;
const WHEEL_ZOOM = 0.0018;
const WHEEL_LINE = 30; // pixels of a line, for wheels that count lines
const LEAST_PAGES = 16; // in sight at the closest
const CLICK_SLOP = 4;
const PAN_STEP = 0.5;

class MapView {
  #canvas = h("canvas", { "aria-hidden": "true" });
  #overlay;
  #context = this.#canvas.getContext("2d", { alpha: false });
  #colors = null;
  #frame = 0;
  #shown = null;
  #hover = null;
  #cursor = null;
  #held = new Map();
  #moved = false;
  #closing = new AbortController();

  /** `options` are types, heights (of the tracks), label, rows ([wide, narrow]), choose(address), told(view). */
  constructor(host, options) {
    this.options = options;
    this.view = { from: 0, to: 1 };
    this.selected = null;
    this.only = null;
    this.#overlay = h("canvas", { tabIndex: 0, role: "application", "aria-label": options.label, "aria-roledescription": "map" });
    this.stage = h("div", { class: "map-stage" }, this.#canvas, this.#overlay);
    this.readout = h("div", { class: "map-readout", "aria-live": "polite" });
    this.element = h("div", { class: "map" }, this.stage, this.readout);
    host.append(this.element);
    this.#listen();
  }

  /** Show tracks on a layout: `tracks` are those of makeTrack, `marks` what changed between the first two. */
  show({ layout, tracks, marks = [], leastBytes }) {
    const before = this.#shown;
    this.#shown = { layout, tracks, marks, least: Math.min(layout.length, leastBytes * LEAST_PAGES) };
    this.#hover = null;
    this.#cursor = null;
    if (before?.layout !== layout) this.view = { from: 0, to: layout.length };
    this.#measure();
    this.#tell();
    this.#request();
  }

  /** Bring a range of addresses into sight, with a part of it as a margin on both sides. */
  zoomTo(low, high, margin = 0.15) {
    const { layout } = this.#shown;
    const [from, to] = [layout.place(low), layout.place(high)];
    this.#setView(from - (to - from) * margin, to + (to - from) * margin);
  }

  /** Let go of the page: this map is taken away. */
  close() {
    this.#closing.abort();
  }

  showAll() {
    this.#setView(0, this.#shown.layout.length);
  }

  /** Zoom by a factor about a part of the view: 0 is its start, 1 its end. */
  zoom(factor, about = 0.5) {
    const { from, to } = this.view;
    const span = Math.min(Math.max((to - from) / factor, this.#shown.least), this.#shown.layout.length);
    const fixed = from + (to - from) * about;
    this.#setView(fixed - span * about, fixed + span * (1 - about));
  }

  pan(part) {
    const by = (this.view.to - this.view.from) * part;
    this.#setView(this.view.from + by, this.view.to + by);
  }

  get isWhole() {
    return this.#shown === null || (this.view.from <= 0 && this.view.to >= this.#shown.layout.length);
  }

  /** The addresses in sight. */
  get range() {
    const { layout } = this.#shown;
    return [layout.address(this.view.from), layout.address(this.view.to)];
  }

  /** Mark the item at an address, and only items of a type (a number) in full colour; null for none of it. */
  mark(selected, only) {
    const isSame = this.only === only;
    this.selected = selected;
    this.only = only;
    if (!isSame) this.#request();
    else if (this.#shown !== null) this.#paintOverlay();
    this.#tell();
  }

  #setView(from, to) {
    const { layout, least } = this.#shown;
    const span = Math.min(Math.max(to - from, least), layout.length);
    const start = Math.min(Math.max(from + (to - from - span) / 2, 0), layout.length - span);
    this.view = { from: start, to: start + span };
    this.#request();
    this.options.told?.(this.view);
  }

  #request() {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      if (this.#shown !== null) this.#paint();
    });
  }

  #measure() {
    const width = this.stage.clientWidth;
    if (width === 0 || this.#shown === null) return;
    const { heights, rows } = this.options;
    const ratio = Math.min(devicePixelRatio || 1, MOST_RATIO);
    const count = width >= MAP_WIDE ? rows[0] : rows[1];
    const high = MAP_LABEL + heights.reduce((sum, each) => sum + each + MAP_LANE, -MAP_LANE) + MAP_GAP;
    this.rows = { width: Math.round(width * ratio), count, ratio, block: high };
    for (const canvas of [this.#canvas, this.#overlay]) {
      canvas.width = this.rows.width;
      canvas.height = Math.round(high * count * ratio);
    }
    this.stage.style.setProperty("height", `${high * count}px`);
  }

  #rowsOf(track) {
    const { ratio, count, block } = this.rows;
    const { heights } = this.options;
    const above = MAP_LABEL + heights.slice(0, track).reduce((sum, each) => sum + each + MAP_LANE, 0);
    const tops = Array.from({ length: count }, (_, row) => Math.round((row * block + above) * ratio));
    return { ...this.rows, tops, height: Math.round(heights[track] * ratio) };
  }

  #paint() {
    if (!this.rows) this.#measure();
    if (!this.rows) return;
    const started = performance.now();
    const context = this.#context;
    const { layout, tracks, marks } = this.#shown;
    this.#colors ??= new MapColors(this.options.types);
    context.fillStyle = this.#colors.tokens.surface;
    context.fillRect(0, 0, this.#canvas.width, this.#canvas.height);
    tracks.forEach((track, number) => {
      const rows = this.#rowsOf(number);
      paintTrack(context, this.#colors, track, this.view, rows, this.only);
      paintFolds(context, this.#colors, track, layout, this.view, rows);
    });
    if (tracks.length > 1) this.#paintMarks(marks);
    paintAddresses(context, this.#colors, layout, this.view, this.#rowsOf(0));
    this.#paintOverlay();
    this.element.dataset.painted = String(Math.round((performance.now() - started) * 10) / 10);
  }

  #paintMarks(marks) {
    const { ratio } = this.rows;
    const lane = this.#rowsOf(1);
    const rows = { ...lane, tops: lane.tops.map((top) => top - MAP_LANE * ratio), height: MAP_LANE * ratio };
    for (const mark of marks) paintChange(this.#context, this.#colors, mark, this.view, rows);
  }

  #paintOverlay() {
    if (!this.rows || this.#colors === null) return;
    const context = this.#overlay.getContext("2d");
    context.clearRect(0, 0, this.#overlay.width, this.#overlay.height);
    const { accent, ink } = this.#colors.tokens;
    this.#shown.tracks.forEach((track, number) => {
      const chosen = this.selected === null ? NOTHING : track.space.find(this.selected);
      if (chosen !== NOTHING) this.#outline(context, number, chosen, accent, 3);
    });
    const at = this.#hover ?? this.#cursor;
    if (at !== null && at.item !== NOTHING) this.#outline(context, at.track, at.item, ink, 2);
  }

  #outline(context, number, item, color, wide) {
    const rows = this.#rowsOf(number);
    const { from, to } = this.#shown.tracks[number];
    const scale = (rows.width * rows.count) / (this.view.to - this.view.from);
    const [left, right] = [from[item], to[item]].map((place) => (place - this.view.from) * scale);
    context.strokeStyle = color;
    context.lineWidth = wide * rows.ratio;
    for (let row = Math.max(0, Math.floor(left / rows.width)); row < rows.count && row * rows.width <= right; row += 1) {
      const start = Math.max(left - row * rows.width, -9);
      const width = Math.max(Math.min(right - row * rows.width, rows.width + 9) - start, wide * rows.ratio);
      context.strokeRect(start, rows.tops[row] - rows.ratio, width, rows.height + 2 * rows.ratio);
    }
  }

  /** Return where a point of the page lies: place on the line, track, item (or NOTHING). */
  #locate(event) {
    const box = this.#overlay.getBoundingClientRect();
    const { count, block } = this.rows;
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const row = Math.min(Math.max(Math.floor(y / block), 0), count - 1);
    const part = (row + Math.min(Math.max(x / box.width, 0), 1)) / count;
    const place = this.view.from + part * (this.view.to - this.view.from);
    const { heights } = this.options;
    const track = heights.length > 1 && y - row * block > MAP_LABEL + heights[0] + MAP_LANE / 2 ? 1 : 0;
    return { part, place, track, item: this.#findNear(track, place) };
  }

  /** Find the item at a place; of those below a pixel the one nearest to it that is mapped. */
  #findNear(number, place) {
    const { space, from, to } = this.#shown.tracks[number];
    const pixel = (this.view.to - this.view.from) / (this.rows.width * this.rows.count);
    const item = searchLast(from, place);
    for (const near of [item, item + 1, item - 1]) {
      const isNear = near >= 0 && near < space.count && from[near] - pixel <= place && place < to[near] + pixel;
      if (isNear && !space.isHole(near) && to[near] > from[near]) return near;
    }
    return item >= 0 && place < to[item] ? item : NOTHING;
  }

  #tell() {
    if (this.#shown === null) return;
    const at = this.#hover ?? this.#cursor ?? this.#findSelected();
    this.readout.replaceChildren(...describePlace(this.#shown, at, this.options));
  }

  #findSelected() {
    if (this.selected === null) return null;
    const track = this.#shown.tracks.length - 1;
    const item = this.#shown.tracks[track].space.find(this.selected);
    return item === NOTHING ? null : { track, item };
  }

  #listen() {
    const on = (type, listener, options) => this.#overlay.addEventListener(type, listener, options);
    on("pointerdown", (event) => this.#press(event));
    on("pointermove", (event) => this.#move(event));
    on("pointerup", (event) => this.#release(event));
    on("pointercancel", (event) => this.#held.delete(event.pointerId));
    on("pointerleave", () => this.#point(null));
    on("dblclick", (event) => this.#zoomToItem(this.#locate(event)));
    on("wheel", (event) => this.#turn(event), { passive: false });
    on("keydown", (event) => this.#key(event));
    on("blur", () => this.#setCursor(null));
    const { signal } = this.#closing;
    const observer = new ResizeObserver(() => this.#resize());
    observer.observe(this.stage);
    signal.addEventListener("abort", () => observer.disconnect());
    addEventListener("themechange", () => this.#recolor(), { signal });
  }

  #recolor() {
    this.#colors = null;
    this.#request();
  }

  #resize() {
    const width = Math.round(this.stage.clientWidth * Math.min(devicePixelRatio || 1, MOST_RATIO));
    if (this.rows?.width === width) return;
    this.#measure();
    this.#request();
  }

  #point(at) {
    this.#hover = at;
    this.readout.setAttribute("aria-live", "off");
    this.#tell();
    if (this.#shown !== null) this.#paintOverlay();
  }

  #setCursor(at) {
    this.#cursor = at;
    this.#hover = null;
    this.readout.setAttribute("aria-live", "polite");
    this.#tell();
    if (this.#shown !== null) this.#paintOverlay();
  }

  #press(event) {
    this.#overlay.focus({ preventScroll: true });
    this.#overlay.setPointerCapture(event.pointerId);
    this.#held.set(event.pointerId, { x: event.clientX, y: event.clientY, startX: event.clientX, startY: event.clientY });
    if (this.#held.size === 1) this.#moved = false;
  }

  #move(event) {
    const held = this.#held.get(event.pointerId);
    if (held === undefined) return this.#point(this.#locate(event));
    if (this.#held.size === 2) return this.#pinch(event, held);
    const [x, y] = [event.clientX - held.x, event.clientY - held.y];
    this.#moved ||= Math.hypot(event.clientX - held.startX, event.clientY - held.startY) > CLICK_SLOP;
    if (!this.#moved) return undefined;
    Object.assign(held, { x: event.clientX, y: event.clientY });
    return this.pan(-(x / this.stage.clientWidth + y / this.rows.block) / this.rows.count);
  }

  #pinch(event, held) {
    const [other] = [...this.#held.entries()].filter(([id]) => id !== event.pointerId).map(([, each]) => each);
    const before = Math.hypot(held.x - other.x, held.y - other.y);
    Object.assign(held, { x: event.clientX, y: event.clientY });
    const after = Math.hypot(held.x - other.x, held.y - other.y);
    this.#moved = true;
    if (before > 0 && after > 0) this.zoom(after / before, this.#locate(event).part);
  }

  #release(event) {
    this.#held.delete(event.pointerId);
    if (this.#moved || this.#shown === null) return;
    const at = this.#locate(event);
    if (at.item !== NOTHING) this.options.choose?.(this.#shown.tracks[at.track].space.starts[at.item], at.track);
  }

  #zoomToItem({ track, item }) {
    if (item === NOTHING) return;
    const { space } = this.#shown.tracks[track];
    this.zoomTo(space.starts[item], space.ends[item]);
  }

  /** Turn the wheel: it zooms once the map was clicked or tabbed to, so that a page can be scrolled past it. */
  #turn(event) {
    if (document.activeElement !== this.#overlay && !event.ctrlKey) return;
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : WHEEL_LINE;
    const [x, y] = [event.deltaX * unit, event.deltaY * unit];
    const isPan = event.shiftKey || Math.abs(x) > Math.abs(y);
    if (this.isWhole && (isPan || y > 0)) return;
    event.preventDefault();
    if (isPan) this.pan((x || y) / this.stage.clientWidth / this.rows.count);
    else this.zoom(Math.exp(-y * WHEEL_ZOOM), this.#locate(event).part);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.#shown === null) return;
    const isShift = event.shiftKey;
    const actions = {
      ArrowRight: () => (isShift ? this.pan(PAN_STEP / this.rows.count) : this.#step(1)),
      ArrowLeft: () => (isShift ? this.pan(-PAN_STEP / this.rows.count) : this.#step(-1)),
      ArrowDown: () => this.#changeTrack(1),
      ArrowUp: () => this.#changeTrack(-1),
      PageDown: () => this.pan(PAN_STEP),
      PageUp: () => this.pan(-PAN_STEP),
      Home: () => this.#goTo(0),
      End: () => this.#goTo(Infinity),
      "+": () => this.zoom(ZOOM_STEP, this.#cursorPart()),
      "=": () => this.zoom(ZOOM_STEP, this.#cursorPart()),
      "-": () => this.zoom(1 / ZOOM_STEP, this.#cursorPart()),
      0: () => this.showAll(),
      z: () => this.#cursor && this.#zoomToItem(this.#cursor),
      Enter: () => this.#cursor && this.options.choose?.(this.#startOf(this.#cursor), this.#cursor.track),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    actions[event.key]();
    event.preventDefault();
    event.stopPropagation();
  }

  #startOf({ track, item }) {
    return this.#shown.tracks[track].space.starts[item];
  }

  #cursorPart() {
    if (this.#cursor === null) return 0.5;
    const { from, to } = this.#shown.tracks[this.#cursor.track];
    const middle = (from[this.#cursor.item] + to[this.#cursor.item]) / 2;
    const part = (middle - this.view.from) / (this.view.to - this.view.from);
    return Math.min(Math.max(part, 0), 1);
  }

  #step(by) {
    const track = this.#cursor?.track ?? this.#shown.tracks.length - 1;
    const { from } = this.#shown.tracks[track];
    const start = searchLast(from, this.view.from);
    this.#goTo(this.#cursor === null ? Math.max(start, 0) : this.#cursor.item + by);
  }

  #changeTrack(by) {
    if (this.#shown.tracks.length === 1) return this.pan(by / this.rows.count);
    const track = Math.min(Math.max((this.#cursor?.track ?? 0) + by, 0), this.#shown.tracks.length - 1);
    const { from } = this.#shown.tracks[track];
    const place = this.#cursor === null ? this.view.from : this.#shown.tracks[this.#cursor.track].from[this.#cursor.item];
    return this.#setCursor({ track, item: Math.max(0, searchLast(from, place)) });
  }

  /** Put the cursor on an item of its track, and bring that into sight. */
  #goTo(wanted) {
    const track = this.#cursor?.track ?? this.#shown.tracks.length - 1;
    const { space, from, to } = this.#shown.tracks[track];
    if (space.count === 0) return;
    const item = Math.min(Math.max(wanted, 0), space.count - 1);
    const span = this.view.to - this.view.from;
    if (from[item] < this.view.from || from[item] >= this.view.to) {
      const start = (from[item] + Math.min(to[item], from[item] + span)) / 2 - span / 2;
      this.#setView(start, start + span);
    }
    this.#setCursor({ track, item });
  }
}
