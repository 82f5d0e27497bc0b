/* The chart of a timeline: areas by type, one upon the other, with limits, the fitted line and what is chosen.

   A type shows by its colour and by its letter inside the area. uPlot draws axes and areas; the rest is ours. */

const CHART_HEIGHT = 300;
const PAPER_WIDTH = 700; // pixels between the margins of A4; the style fits the picture to any other sheet
const LIMIT_REACH = 4; // a limit is drawn in up to so many times the largest total
const LETTER_HEIGHT = 14;
const EDGE = 12; // pixels that a letter keeps from the ends
const BYTE_STEPS = Array.from({ length: 60 }, (_, power) => 2 ** power);
const SECOND_STEPS = [0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 172800, 604800];
const LONGEST_UNITS = [
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
];
const VERDICT_SIGNS = { growing: "▲", shrinking: "▼", flat: "=", "cannot tell": "?" };

/** Return how much each type has in each snapshot of a timeline, and the totals: numbers, null where unknown. */
function readSeries(page, timeline, metric) {
  const summaries = timeline.snapshots.map((id) => page.snapshots[id].summary);
  const rows = page.types.map((type) => [type, summaries.map((summary) => readCell(summary, type, metric))]);
  const totals = summaries.map((summary) => readCell(summary, "Total", metric));
  const shown = rows.filter(([type, values]) => type !== "Free" && values.some((value) => value > 0));
  return { types: shown.map(([type]) => type), values: shown.map(([, values]) => values), totals };
}

/** Keep one type of series, as if it were all there is; all of them where none is chosen, or it is not among them. */
function keepType(series, type) {
  const at = series.types.indexOf(type);
  if (at < 0) return { ...series, alone: null };
  return { types: [type], values: [series.values[at]], totals: series.values[at], alone: type };
}

function readCell(summary, type, metric) {
  const row = summary.column("type").indexOf(type);
  return row < 0 || !summary.has(metric) ? null : summary.number(metric, row);
}

/** Stack the series: each becomes the sum of itself and those below it. Nothing is drawn where the total is unknown. */
function stackSeries({ values, totals }) {
  const below = totals.map((total) => (total === null ? null : 0));
  return values.map((series) => {
    series.forEach((value, at) => {
      if (below[at] !== null) below[at] += value ?? 0;
    });
    return [...below];
  });
}

/** Write seconds since the first snapshot as a person says them. */
function formatSeconds(seconds) {
  for (const [length, unit] of LONGEST_UNITS) {
    if (seconds < length) continue;
    const whole = Math.floor(seconds / length);
    const rest = seconds - whole * length;
    const next = LONGEST_UNITS[LONGEST_UNITS.findIndex(([, name]) => name === unit) + 1];
    const part = next ? Math.floor(rest / next[0]) : Math.round(rest);
    return part ? `${whole} ${unit} ${part} ${next ? next[1] : "s"}` : `${whole} ${unit}`;
  }
  return `${Number(seconds.toFixed(2))} s`;
}

/** A chart of one timeline and figure; `show(what)` draws it anew, `mark(marks)` only what is chosen. */
class TimelineChart {
  #plot = null;
  #shown = null;
  #marks = { chosen: null, pair: null };
  #highest = 1;
  #isPaper = false;

  constructor(host) {
    this.element = h("div", { class: "chart" });
    host.append(this.element);
    new ResizeObserver(() => this.#resize()).observe(this.element);
    addEventListener("themechange", () => this.#draw());
  }

  /** Show series: `x` places, `isTime`, `series`, `limits` ([{name, value}]), `fits` ([{slope, offset, from, label, number}]),
      `verdicts` by type, `kept` (places of snapshots that have lists), `plateau`. */
  show(shown) {
    this.#shown = shown;
    this.stacked = stackSeries(shown.series);
    this.#highest = (this.stacked.at(-1) ?? []).reduce((highest, value) => Math.max(highest, value ?? 0), 1);
    this.#draw();
  }

  mark(marks) {
    const isSame = JSON.stringify(marks) === JSON.stringify(this.#marks);
    this.#marks = marks;
    if (!isSame) this.#plot?.redraw(false, false);
  }

  /** Draw for paper, in the colours of now, or for the screen again. */
  print(isPaper) {
    this.#isPaper = isPaper;
    this.#draw();
  }

  /** Return the number of the snapshot that is nearest to a point of the page. */
  find(event) {
    const box = this.#plot.over.getBoundingClientRect();
    return this.#plot.posToIdx(Math.min(Math.max(event.clientX - box.left, 0), box.width));
  }

  /** Put the line of the cursor on a snapshot; null takes it away. */
  point(at) {
    const left = at === null ? -10 : this.#plot.valToPos(this.#shown.x[at], "x");
    this.#plot.setCursor({ left, top: at === null ? -10 : 10 }, false);
  }

  /** Tell whether a limit is near enough to be drawn. */
  holds(value) {
    return value <= this.#highest * LIMIT_REACH;
  }

  #resize() {
    if (this.#isPaper) return;
    const width = this.element.clientWidth;
    if (this.#plot !== null && width > 0 && width !== this.#plot.width) this.#plot.setSize({ width, height: CHART_HEIGHT });
    else if (this.#plot === null && this.#shown !== null) this.#draw();
  }

  #draw() {
    const width = this.#isPaper ? PAPER_WIDTH : this.element.clientWidth;
    if (this.#shown === null || width === 0) return;
    this.#plot?.destroy();
    const { x, series } = this.#shown;
    const names = ["ink", "muted", "line", "surface", "accent", "bad", "chosen"];
    const colors = resolveColors(names.map((name) => `var(--${name})`));
    this.colors = Object.fromEntries(names.map((name, at) => [name, colors[at]]));
    this.fills = resolveColors(series.types.map(typeColor));
    this.inks = resolveColors(series.types.map(typeInk));
    this.#plot = new uPlot(this.#options(width), [x, ...this.stacked.toReversed()], this.element);
  }

  #options(width) {
    const { x, isTime, limits } = this.#shown;
    const { colors } = this;
    const top = Math.max(this.#highest, ...limits.map(({ value }) => value).filter((value) => this.holds(value)));
    const axis = { stroke: colors.muted, font: "12px system-ui, sans-serif", grid: { stroke: colors.line, width: 1 }, ticks: { stroke: colors.line, width: 1 } };
    const areas = this.fills.map((fill) => ({ fill, stroke: fill, width: 1, points: { show: false } }));
    return {
      width,
      height: CHART_HEIGHT,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: false, range: [x[0], x.at(-1)] }, y: { range: [0, top * 1.1] } },
      series: [{}, ...areas.toReversed()],
      axes: [
        { ...axis, incrs: isTime ? SECOND_STEPS : undefined, values: (_, places) => places.map((place) => (isTime ? formatSeconds(place) : this.#nameSnapshot(place))), space: 80 },
        { ...axis, incrs: BYTE_STEPS, values: (_, values) => values.map((value) => formatBytes(value).replace(".0 ", " ")), size: 72 },
      ],
      hooks: { draw: [(plot) => this.#drawMore(plot)] },
    };
  }

  #nameSnapshot(place) {
    return Number.isInteger(place) ? `#${place + 1}` : "";
  }

  #drawMore(plot) {
    const pen = plot.ctx;
    const { left, top, width, height } = plot.bbox;
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width, height);
    pen.clip();
    this.#drawLetters(plot, pen);
    this.#drawKept(plot, pen);
    this.#drawFits(plot, pen);
    for (const limit of this.#shown.limits) this.#drawLimit(plot, pen, limit);
    this.#drawMarks(plot, pen);
    pen.restore();
  }

  /** Write the letter of each area where it is highest, and which way it goes. */
  #drawLetters(plot, pen) {
    const ratio = devicePixelRatio || 1;
    const { x, series, verdicts } = this.#shown;
    pen.font = this.#font(ratio);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const inner = [Math.floor(x.length * 0.15), Math.ceil(x.length * 0.9)];
    series.types.forEach((type, number) => {
      const at = findHighest(series.values[number], ...inner);
      if (at < 0 || this.stacked[number][at] === null) return;
      const upper = plot.valToPos(this.stacked[number][at], "y", true);
      const lower = plot.valToPos(this.stacked[number][at] - series.values[number][at], "y", true);
      if (lower - upper < LETTER_HEIGHT * ratio) return;
      pen.fillStyle = this.inks[number];
      const sign = VERDICT_SIGNS[verdicts.get(type)];
      const text = `${TYPE_MARKS[type]?.letter ?? "?"}${sign && sign !== "=" ? ` ${sign}` : ""}`;
      const { left, width } = plot.bbox;
      const middle = Math.min(Math.max(plot.valToPos(x[at], "x", true), left + EDGE * ratio), left + width - EDGE * ratio);
      pen.fillText(text, middle, (upper + lower) / 2);
    });
  }

  /** Mark at the foot the snapshots whose lists the page keeps. */
  #drawKept(plot, pen) {
    const ratio = devicePixelRatio || 1;
    const bottom = plot.bbox.top + plot.bbox.height;
    pen.fillStyle = this.colors.ink;
    for (const at of this.#shown.kept) pen.fillRect(plot.valToPos(this.#shown.x[at], "x", true) - ratio / 2, bottom - 5 * ratio, ratio, 5 * ratio);
  }

  #drawFits(plot, pen) {
    const { fits, plateau } = this.#shown;
    const ratio = devicePixelRatio || 1;
    if (plateau !== null) {
      this.#drawVertical(plot, pen, plot.valToPos(plateau, "x", true), this.colors.muted, [2, 4]);
      this.#drawText(pen, "warm-up ends", plot.valToPos(plateau, "x", true) + 5 * ratio, plot.bbox.top + 10 * ratio, "left");
    }
    for (const fit of fits) this.#drawFit(plot, pen, fit);
  }

  /** Draw a fitted line: of a type upon what lies below its area. One that stands alone has a label, that of the total
      too; the others are in the legend. */
  #drawFit(plot, pen, { from, offset, slope, label, number }) {
    const ratio = devicePixelRatio || 1;
    const { x } = this.#shown;
    const below = number ? this.stacked[number - 1] : null;
    const points = x.flatMap((place, at) => {
      const ground = below === null ? 0 : below[at];
      return place < from || ground === null ? [] : [[plot.valToPos(place, "x", true), plot.valToPos(ground + offset + slope * place, "y", true)]];
    });
    if (points.length < 2) return;
    this.#drawLine(pen, points, this.colors.ink, number === null ? [6, 4] : [2, 3], number === null ? 1.5 : 1);
    if (!label) return;
    this.#drawFitLabel(plot, pen, label, points);
  }

  /** Write what a line says above it, clear of it however steep it is; below it where there is no room above. */
  #drawFitLabel(plot, pen, label, points) {
    const ratio = devicePixelRatio || 1;
    const [[left, start], [right, end]] = [points[0], points.at(-1)];
    const [middle, high] = [(left + right) / 2, (start + end) / 2];
    pen.font = this.#font(ratio);
    const rise = (Math.abs(end - start) / (right - left)) * (pen.measureText(label).width / 2);
    const away = rise + 14 * ratio;
    const isRoom = high - away - 8 * ratio > plot.bbox.top;
    this.#drawText(pen, label, middle, isRoom ? high - away : high + away, "center");
  }

  #font(ratio) {
    return `600 ${12 * ratio}px system-ui, sans-serif`;
  }

  #drawLimit(plot, pen, { name, value }) {
    const ratio = devicePixelRatio || 1;
    const high = plot.valToPos(value, "y", true);
    const { left, width } = plot.bbox;
    if (high < plot.bbox.top) return;
    this.#drawLine(pen, [[left, high], [left + width, high]], this.colors.bad, [8, 3]);
    this.#drawText(pen, `limit: ${name} ${formatBytes(value)}`, left + width - 6 * ratio, high + 10 * ratio, "right");
  }

  #drawMarks(plot, pen) {
    const { x } = this.#shown;
    const { chosen, pair } = this.#marks;
    const { top, height } = plot.bbox;
    if (pair !== null) {
      const [from, to] = pair.map((at) => plot.valToPos(x[at], "x", true));
      pen.globalAlpha = 0.25;
      pen.fillStyle = this.colors.accent;
      pen.fillRect(from, top, to - from, height);
      pen.globalAlpha = 1;
      for (const place of [from, to]) this.#drawVertical(plot, pen, place, this.colors.accent, [3, 3]);
    }
    if (chosen !== null) this.#drawVertical(plot, pen, plot.valToPos(x[chosen], "x", true), this.colors.accent, [], 3);
  }

  #drawVertical(plot, pen, place, color, dash, wide = 1.5) {
    const { top, height } = plot.bbox;
    this.#drawLine(pen, [[place, top], [place, top + height]], color, dash, wide);
  }

  #drawLine(pen, points, color, dash, wide = 1.5) {
    const ratio = devicePixelRatio || 1;
    pen.beginPath();
    pen.strokeStyle = color;
    pen.lineWidth = wide * ratio;
    pen.setLineDash(dash.map((length) => length * ratio));
    for (const point of points) pen.lineTo(...point);
    pen.stroke();
    pen.setLineDash([]);
  }

  /** Write text that reads on any area: with a rim of the ground's colour. */
  #drawText(pen, text, left, middle, align) {
    const ratio = devicePixelRatio || 1;
    pen.font = this.#font(ratio);
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.lineWidth = 4 * ratio;
    pen.strokeStyle = this.colors.surface;
    pen.strokeText(text, left, middle);
    pen.fillStyle = this.colors.ink;
    pen.fillText(text, left, middle);
  }
}

/** Return the place of the largest value between two places, or -1 where none is known. */
function findHighest(values, first, last) {
  let highest = -1;
  for (let at = first; at < Math.min(last + 1, values.length); at += 1) {
    if (values[at] !== null && (highest < 0 || values[at] > values[highest])) highest = at;
  }
  return highest;
}
