/* The timeline of a process: how much it had of each type over time. A click shows the snapshot there, a drag
   compares two, as in VMMap. */

const TIME_METRICS = [
  ["total_ws", "Working Set"],
  ["private", "Private"],
  ["committed", "Committed"],
  ["size", "Address space"],
];
/** The limits that count the figure which is drawn; those of other figures, or of the whole system, do not bind it. */
const METRIC_LIMITS = { total_ws: ["cgroup memory"], size: ["RLIMIT_AS", "address space"] };
const DRAG_SLOP = 5;
const LOWEST_SHARE = 0.05;
const ROUNDING = 1e-9; // what seconds lose as hours
const TIME_HINT =
  "Click a moment to show its snapshot, drag from one to another to compare them. With the keyboard: arrow keys, " +
  "Enter shows the snapshot, Shift with arrow keys and Enter compares.";

/** Show the timelines of the page, one at a time. */
function mountTimeline(host, app) {
  return new TimelineView(host, app);
}

class TimelineView {
  #app;
  #number = -1;
  #metric = null;
  #every = null;
  #series = null; // what is drawn of it: one type alone, where one is chosen
  #at = null;
  #anchor = null;
  #held = null;
  #isNow = false;

  constructor(host, app) {
    this.#app = app;
    this.#makeTools();
    this.verdict = h("p", { class: "says" });
    host.append(this.tools, this.verdict);
    this.stage = h("div", {
      class: "timeline",
      tabIndex: 0,
      role: "application",
      "aria-roledescription": "timeline",
      "aria-label": "Timeline: arrow keys go from snapshot to snapshot, Enter shows one, Shift with arrows compares",
    });
    this.readout = h("p", { class: "map-readout", "aria-live": "polite" });
    this.legend = h("p", { class: "legend" });
    this.more = h("div", {});
    host.append(this.stage, this.readout, this.legend, this.more);
    this.chart = new TimelineChart(this.stage);
    this.#listen();
    this.#choose();
    app.state.subscribe(["time", "unit", "type"], () => this.#choose());
    app.state.subscribe(["snapshot", "diff"], () => (this.#findNumber() === this.#number ? this.#mark() : this.#choose()));
  }

  #makeTools() {
    const { timelines } = this.#app.page;
    this.metric = makeSelect("Figure", [], (value) => this.#app.state.set({ time: value }));
    const name = (snapshots) => nameProcess(this.#app.page.snapshots[snapshots.at(-1)]);
    const choices = timelines.map(({ snapshots }, number) => [String(number), `${name(snapshots)}, ${formatCount(snapshots.length)} snapshots`]);
    this.which = makeSelect("Process", choices, (value) => chooseSnapshot(this.#app, timelines[Number(value)].snapshots.at(-1)));
    this.which.hidden = timelines.length < 2 && this.#app.page.rooms.length === 0;
    this.tools = h("div", { class: "tools" }, this.which, this.metric);
  }

  /** Tell of which process and which figure the chart is. */
  tellDrawn() {
    const shown = this.#app.snapshot();
    if (this.#findNumber() < 0) return tellSnapshot(this.#app, shown);
    const { snapshots } = this.#timeline;
    const times = listTimes(this.#app.page);
    const [first, last] = [snapshots[0], snapshots.at(-1)].map((id) => `${formatCount(id + 1)} (${times[id]})`);
    return `${nameProcess(shown)}, ${this.#nameDrawn()}, ${formatMany(snapshots.length, "snapshot")} from ${first} to ${last}`;
  }

  get #timeline() {
    return this.#app.page.timelines[this.#number];
  }

  get #trend() {
    return this.#app.page.trends.find(({ timeline }) => timeline === this.#number) ?? null;
  }

  /** Return the figures that some snapshot of a timeline knows. */
  #listMetrics(number) {
    const { page } = this.#app;
    return TIME_METRICS.filter(([name]) =>
      page.timelines[number].snapshots.some((id) => readCell(page.snapshots[id].summary, "Total", name) !== null),
    );
  }

  #defaultMetric(number) {
    const known = this.#listMetrics(number).map(([name]) => name);
    const judged = this.#app.page.trends.find(({ timeline }) => timeline === number)?.metric;
    return known.includes(judged) ? judged : (known[0] ?? TIME_METRICS[0][0]);
  }

  /** Return the number of the timeline of the process that is shown, -1 where there is none. */
  #findNumber() {
    return findTimeline(this.#app.page, this.#app.snapshot().id);
  }

  #choose() {
    this.#number = this.#findNumber();
    this.which.value = String(this.#number);
    const isThere = this.#number >= 0;
    for (const part of [this.metric, this.stage, this.readout, this.legend]) part.hidden = !isThere;
    if (!isThere) {
      this.verdict.hidden = true;
      this.more.replaceChildren(h("p", { class: "note" }, `${tellWhose(this.#app, this.#app.snapshot())}one snapshot of it here: no timeline`));
      return;
    }
    const [, metric] = /^(?:\d{1,6}\.)?([a-z_]{1,20})$/.exec(this.#app.state.get("time") ?? "") ?? [];
    const known = this.#listMetrics(this.#number);
    this.#metric = known.some(([name]) => name === metric) ? metric : this.#defaultMetric(this.#number);
    this.metric.replaceChildren(...known.map(([value, text]) => h("option", { value }, text)));
    this.metric.value = this.#metric;
    this.#draw();
  }

  #draw() {
    const { page } = this.#app;
    const { snapshots, seconds, clock } = this.#timeline;
    const isTime = seconds !== null && seconds.at(-1) > 0;
    this.#every = readSeries(page, this.#timeline, this.#metric);
    this.#series = keepType(this.#every, this.#app.state.get("type"));
    const x = isTime ? seconds : snapshots.map((_, at) => at);
    const total = this.#trendRow("total", "Total");
    this.verdict.textContent = this.#tellVerdict();
    this.verdict.hidden = this.#trend === null;
    const types = this.#series.types;
    this.chart.show({
      x,
      isTime,
      series: this.#series,
      limits: this.#series.alone === null ? this.#listLimits() : [],
      fits: isTime ? this.#fitAll(x, total) : [],
      plateau: isTime ? (total?.plateau_s ?? null) : null,
      verdicts: new Map(types.map((type) => [type, this.#trendRow("type", type)?.verdict])),
      kept: snapshots.flatMap((id, at) => (page.snapshots[id].has_lists ? [at] : [])),
    });
    this.#at = null;
    this.#anchor = null;
    this.stage.dataset.painted = this.#metric;
    this.#mark();
    this.more.replaceChildren(...this.#explain(clock));
  }

  /** Tell the verdict, of which process where there are several, and of which figure where another is drawn. */
  #tellVerdict() {
    const trend = this.#trend;
    if (trend === null) return "";
    const judged = TIME_METRICS.find(([name]) => name === trend.metric)?.[1] ?? trend.metric.replaceAll("_", " ");
    const other = trend.metric === this.#metric ? "" : `Of ${judged}, not of ${this.#nameMetric()}, which is drawn: `;
    return `${tellWhose(this.#app, this.#app.snapshot())}${other}${trend.sentence}`;
  }

  /** Return the fitted lines: of the total, and of each type that moves; `number` is its place, null for the total. */
  #fitAll(x, total) {
    const { types, values, totals, alone } = this.#series;
    const rows = [...(alone === null ? [[total, totals, null]] : []), ...types.map((type, number) => [this.#trendRow("type", type), values[number], number])];
    return rows.flatMap(([row, known, number]) => {
      const fit = row === null ? null : fitLine(row, x, known);
      return fit === null ? [] : [{ ...fit, number, label: alone === null ? (number === null ? fit.text : "") : `${alone} ${fit.text}` }];
    });
  }

  /** Return the row of the trend for what is drawn; null where that was not judged. */
  #trendRow(scope, name) {
    const trend = this.#trend;
    if (trend === null || trend.metric !== this.#metric) return null;
    const { rows } = trend;
    const at = rows.column("name").findIndex((each, row) => each === name && rows.column("scope")[row] === scope);
    return at < 0 ? null : rows.row(at);
  }

  #listLimits() {
    const { limits } = this.#app.page.snapshots[this.#timeline.snapshots.at(-1)];
    return Array.from({ length: limits.rows }, (_, row) => limits.row(row))
      .filter(({ limit, maximum }) => maximum !== null && METRIC_LIMITS[this.#metric]?.includes(limit))
      .map(({ limit, maximum }) => ({ name: limit, value: Number(maximum) }));
  }

  #explain(clock) {
    const notes = [...this.#timeline.notes];
    if (clock === "wall") notes.push("Times are those of the wall clock, which may have been set in between.");
    if (clock === null) notes.push("The snapshots tell no time that can be compared: they stand side by side.");
    const above = this.#listLimits().filter(({ value }) => !this.chart.holds(value));
    if (above.length > 0) notes.push(`Above the chart: ${above.map(({ name, value }) => `${name} ${formatBytes(value)}`).join(", ")}.`);
    return [...notes.map((note) => h("p", { class: "note" }, note)), makeVerdicts(this.#app, this.#trend)].filter(Boolean);
  }

  #mark() {
    const { snapshots } = this.#timeline;
    const chosen = snapshots.indexOf(this.#app.snapshot().id);
    const pair = (this.#app.state.get("diff") ?? []).map((id) => snapshots.indexOf(id));
    const held = this.#anchor !== null && this.#at !== null ? [this.#anchor, this.#at].sort((a, b) => a - b) : null;
    const compared = pair.length === 2 && pair.every((at) => at >= 0) ? pair.toSorted((a, b) => a - b) : null;
    this.chart.mark({ chosen: chosen < 0 ? null : chosen, pair: held ?? compared });
    this.#tell(held ?? (this.#at === null ? compared : null));
  }

  /** Tell of the moment that is pointed at, else of the two that are compared, else how to do either. */
  #tell(pair) {
    const at = this.#at ?? this.#timeline.snapshots.indexOf(this.#app.snapshot().id);
    if (pair !== null && pair[0] !== pair[1]) this.readout.replaceChildren(...this.#describePair(pair));
    else if (this.#at !== null) this.readout.replaceChildren(...this.#describe(at));
    else this.readout.replaceChildren(h("span", { class: "muted" }, TIME_HINT));
    this.#drawLegend(at);
  }

  #nameMetric() {
    return TIME_METRICS.find(([name]) => name === this.#metric)[1];
  }

  #nameDrawn() {
    const { alone } = this.#series;
    return alone === null ? this.#nameMetric() : `${alone}, ${this.#nameMetric()}`;
  }

  #describe(at) {
    const { page } = this.#app;
    const { snapshots, seconds } = this.#timeline;
    const snapshot = page.snapshots[snapshots[at]];
    const after = seconds === null ? "" : `, ${formatSeconds(seconds[at])} after the first`;
    const lists = snapshot.has_lists ? "" : " This page keeps only its sums.";
    const total = this.#series.totals[at];
    return [`${snapshots[at] + 1}: ${snapshot.head.time}${after}. ${this.#nameDrawn()} `, h("b", { title: formatExact(total) }, formatBytes(total)), `.${lists}`];
  }

  #describePair([from, to]) {
    const { snapshots } = this.#timeline;
    const delta = subtractExact(this.#series.totals[to], this.#series.totals[from]);
    const see = makeButton("See what changed", "Go to the comparison of these two", () => this.#goToDiff());
    const words = `From ${snapshots[from] + 1} to ${snapshots[to] + 1}: ${this.#nameDrawn()} `;
    const isSet = this.#anchor === null;
    return [words, h("b", {}, formatChange(delta, (value) => formatBytes(value))), ". ", isSet ? see : ""];
  }

  #goToDiff() {
    this.#app.state.set({ at: "diff" });
    document.getElementById("diff")?.scrollIntoView();
  }

  #drawLegend(at) {
    const { types, values } = this.#every;
    const chosen = this.#app.state.get("type");
    const entries = types.map((type, number) => {
      const row = this.#trendRow("type", type);
      const isTold = row !== null && row.verdict !== "flat" && row.slope !== null;
      const slope = isTold ? h("small", { title: row.reason }, ` ${VERDICT_SIGNS[row.verdict]} ${formatSlope(row)}`) : null;
      const value = at < 0 ? null : values[number][at];
      const title = type === chosen ? "Show all types" : `Show ${type} alone`;
      const button = makeButton("", title, () => toggleType(this.#app, type), { class: `type${type === chosen ? " chosen" : ""}` });
      button.replaceChildren(makeMark(type), ` ${type} `, h("b", { title: formatExact(value) }, formatBytes(value)), slope ?? "");
      button.setAttribute("aria-pressed", String(type === chosen));
      return button;
    });
    this.legend.replaceChildren(...entries);
  }

  #listen() {
    const on = (type, listener) => this.stage.addEventListener(type, listener);
    on("pointerdown", (event) => this.#press(event));
    on("pointermove", (event) => this.#move(event));
    on("pointerup", () => this.#release());
    on("pointercancel", () => this.#drop());
    on("pointerleave", () => this.#held === null && this.#point(null));
    on("keydown", (event) => this.#key(event));
    on("blur", () => this.#drop());
  }

  #press(event) {
    if (event.button !== 0) return;
    const at = this.chart.find(event);
    this.#held = { at, x: event.clientX, isDrag: false };
    this.stage.setPointerCapture(event.pointerId);
  }

  #move(event) {
    const at = this.chart.find(event);
    if (this.#held !== null && (this.#held.isDrag || Math.abs(event.clientX - this.#held.x) > DRAG_SLOP)) {
      this.#held.isDrag = true;
      this.#anchor = this.#held.at;
    }
    this.#point(at);
  }

  #release() {
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    if (held.isDrag) this.#compare();
    else this.#show(held.at);
  }

  #drop() {
    this.#held = null;
    this.#anchor = null;
    this.#point(null);
  }

  /** Point at a snapshot; painting is done once a frame. */
  #point(at) {
    this.#at = at;
    if (this.#isNow) return;
    this.#isNow = true;
    requestAnimationFrame(() => {
      this.#isNow = false;
      if (this.#held === null) this.chart.point(this.#at);
      this.#mark();
    });
  }

  #show(at) {
    chooseSnapshot(this.#app, this.#timeline.snapshots[at]);
    announce(`Showing snapshot ${this.#timeline.snapshots[at] + 1}`);
  }

  /** Compare the two ends of the drag; of one and the same moment there is nothing to compare. */
  #compare() {
    const pair = [this.#anchor, this.#at].toSorted((a, b) => a - b).map((at) => this.#timeline.snapshots[at]);
    this.#anchor = null;
    this.#at = null;
    if (pair[0] !== pair[1]) this.#app.state.set({ diff: pair });
    this.#mark();
  }

  #key(event) {
    const { snapshots } = this.#timeline;
    const here = this.#at ?? Math.max(0, snapshots.indexOf(this.#app.snapshot().id));
    const steps = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: snapshots.length - 1, PageUp: here - 10, PageDown: here + 10 };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (Object.hasOwn(steps, event.key)) {
      if (!event.shiftKey) this.#anchor = null;
      else this.#anchor ??= here;
      this.#point(Math.min(Math.max(steps[event.key], 0), snapshots.length - 1));
    } else if (event.key === "Enter") {
      if (this.#anchor !== null && this.#at !== null) this.#compare();
      else this.#show(here);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Return the fitted line of what moves: its slope through the median of what is left (Theil and Sen, 1968), or below
    nearly all of it where only the lowest points were fitted. */
function fitLine({ slope, verdict, method, fitted_s: start, ...row }, x, known) {
  if (slope === null || start === null || !["growing", "shrinking"].includes(verdict)) return null;
  const perSecond = slope / 3600;
  const from = start * (1 - ROUNDING);
  const rests = x.flatMap((place, at) => (place >= from && known[at] !== null ? [known[at] - perSecond * place] : []));
  if (rests.length === 0) return null;
  const sorted = Float64Array.from(rests).sort();
  const rank = method.startsWith("lower envelope") ? LOWEST_SHARE : 0.5;
  return { slope: perSecond, offset: sorted[Math.floor(sorted.length * rank)], from, text: formatSlope({ slope, verdict, ...row }) };
}

/** Write a slope rounded to the nearest, as the verdicts do it: formatBytes cuts, as is right for a size. */
function formatSlope({ slope, unit }) {
  const size = Math.abs(slope);
  const lead = slope < 0 ? "−" : "+";
  const [, factor] = BYTE_UNITS.find(([, least]) => size >= least) ?? ["", 0];
  return `${lead}${unit === "bytes" ? formatBytes(Math.round(size + factor / 20)) : `${formatCount(Math.round(size))} ${unit}`}/h`;
}

/** Make the list of all verdicts of a trend: what does not stay flat first, as they come. */
function makeVerdicts(app, trend) {
  if (trend === null) return null;
  const rows = Array.from({ length: trend.rows.rows }, (_, at) => trend.rows.row(at));
  const body = [...rows.filter(({ verdict }) => verdict !== "flat"), ...rows.filter(({ verdict }) => verdict === "flat")].map((row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, row.type && row.scope === "type" ? makeMark(row.type) : "", ` ${row.name ?? ""}`),
      h("td", { class: "text" }, `${row.scope}, ${row.metric.replaceAll("_", " ")}`),
      h("td", {}, `${VERDICT_SIGNS[row.verdict] ?? ""} ${row.verdict}`),
      h("td", { class: "text" }, `${row.reason ?? ""}${tellReach(row)}`),
    ),
  );
  const heads = [["name", "What"], ["scope", "Kind"], ["verdict", "Verdict"], ["reason", "Why"]].map(([name, text]) =>
    h("th", { scope: "col", title: app.define("trend", name) }, text),
  );
  const table = h("table", { class: "data" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body));
  const place = makeScroll("Verdicts", table);
  return h("details", {}, h("summary", {}, `Verdicts on ${formatCount(rows.length)} figures`), place);
}

function tellReach({ maximum, reached_h: hours, unit }) {
  if (maximum === null || hours === null) return "";
  const limit = unit === "bytes" ? formatBytes(maximum) : formatCount(maximum);
  return `; at this slope it reaches ${limit} in ${SIGNIFICANT.format(hours)} h`;
}
