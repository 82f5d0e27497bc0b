/* Beside the map: the largest holes, what splits them, and which part of the free space serves which request. */

const MOST_HOLES = 8;
const CURVE = { width: 460, height: 190, left: 40, right: 30, top: 12, bottom: 34 };
/** What a hole has below and above where no region lies there. */
const RANGE_ENDS = [
  ["before", "the start of the range"],
  ["after", "the end of the range"],
];
const SVG_SPACE = "http://www.w3.org/2000/svg";

/** Make an element of SVG; attributes are set as they are. */
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG_SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Draw the panels for a window of `mmp free` by its row; `go(low, high)` brings a range into sight on the map. */
function drawSpace(lists, window, unit, go) {
  const holes = drawHoles(lists, lists.windows, window, unit, go);
  return [holes, drawSplitters(lists, window, unit, go), drawCurve(lists, window, unit)].filter(Boolean);
}

function isWithin(windows, window, low, high) {
  return BigInt(low) >= windows.exact("low", window) && BigInt(high) <= windows.exact("high", window);
}

function drawHoles(lists, windows, window, unit, go) {
  const { free } = lists;
  const [sizes, types] = [free.column("size"), free.column("type")];
  const [starts, ends] = [free.column("address"), free.column("end")];
  const [low, high] = ["low", "high"].map((name) => windows.exact(name, window));
  const reaches = (row) => compareExact(starts[row], high) < 0 && compareExact(ends[row], low) > 0; // cut holes too
  const rows = sizes
    .map((_, row) => row)
    .filter((row) => types[row] === "Free" && reaches(row))
    .sort((a, b) => compareExact(sizes[b], sizes[a]));
  if (rows.length === 0) return h("div", { class: "panel" }, h("h3", {}, "Largest holes"), h("p", { class: "note" }, "No hole lies in this window."));
  const body = rows.slice(0, MOST_HOLES).map((row) => {
    const around = RANGE_ENDS.map(([side, end]) => shortenPath(free.column(side)[row]) ?? end);
    return h(
      "tr",
      {},
      h("td", {}, makePlace(starts[row], () => go(BigInt(starts[row]), BigInt(ends[row])))),
      drawSize(sizes[row], unit),
      h("td", { class: "text" }, `${around[0]} … ${around[1]}`),
    );
  });
  const title = rows.length > MOST_HOLES ? `Largest ${MOST_HOLES} of ${formatCount(rows.length)} holes` : "Holes, the largest first";
  return drawPanel(title, ["Address", ["Size"], "Between"], body);
}

function drawSplitters(lists, window, unit, go) {
  const { splitters, windows } = lists;
  const rows = Array.from({ length: splitters.rows }, (_, row) => splitters.row(row))
    .filter(({ address, end }) => isWithin(windows, window, address, end))
    .slice(0, MOST_HOLES);
  if (rows.length === 0) return null;
  const body = rows.map((row) => {
    const [low, high] = [BigInt(row.address) - BigInt(row.below), BigInt(row.end) + BigInt(row.above)];
    const more = row.regions > 1 ? `, ${formatCount(row.regions)} regions` : "";
    return h(
      "tr",
      {},
      h("td", {}, makePlace(row.address, () => go(low, high, BigInt(row.address))), " ", makeMark(row.type), ` ${shortenPath(row.details) ?? row.type}${more}`),
      drawSize(row.size, unit),
      drawSize(row.gain, unit),
      drawSize(row.merged, unit),
    );
  });
  return drawPanel("What splits holes", ["What lies between two", ["Its size"], ["Gain"], ["One hole of"]], body);
}

function drawPanel(title, heads, body) {
  const cells = heads.map((head) => (Array.isArray(head) ? h("th", { scope: "col", class: "number" }, head[0]) : h("th", { scope: "col" }, head)));
  const table = h("table", { class: "data" }, h("thead", {}, h("tr", {}, cells)), h("tbody", {}, body));
  return h("div", { class: "panel" }, h("h3", {}, title), makeScroll(title, table));
}

function drawSize(value, unit) {
  return h("td", { class: "number", title: explainValue(value, "bytes") }, formatBytes(value, unit));
}

function makePlace(address, click) {
  return makeButton(formatAddress(address), "Show it on the map, and select it", click, { class: "type address" });
}

/** Shorten "Image /usr/lib/libc.so.6" or a path to its last part. */
function shortenPath(text) {
  if (text === null) return null;
  const [, lead, path] = /^((?:Image|Mapped File|Heap|Managed Heap|Stack|Shareable|Private Data) )?(.*)$/s.exec(text);
  return `${lead ?? ""}${clipText(takeLastPart(path))}`;
}

function drawCurve(lists, window, unit) {
  const { requests, windows } = lists;
  const name = windows.column("window")[window];
  const rows = Array.from({ length: requests.rows }, (_, row) => requests.row(row)).filter((row) => row.window === name);
  if (rows.length < 2) return null;
  const title = "Free space that a request cannot use, U(S)";
  const about = h("p", { class: "about" }, "0: all free space lies in holes with room for a request of size S; 1: none of it does. A limit may stop a request before: see Limits and room.");
  const body = rows.map((row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", class: "number" }, formatBytes(row.request, unit)),
      h("td", { class: "number", title: String(row.unusable_index) }, row.unusable_index.toFixed(3)),
      h("td", { class: "number" }, formatCount(row.holes)),
      h("td", { class: "number" }, formatCount(row.places)),
    ),
  );
  const heads = ["S", "U(S)", "Holes", "Places"].map((text) => h("th", { scope: "col", class: "number" }, text));
  const table = h("table", { class: "data" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body));
  const more = h("details", {}, h("summary", {}, "As a table"), makeScroll(title, table));
  return h("div", { class: "panel" }, h("h3", {}, title), about, plotCurve(rows, title), more);
}

function plotCurve(rows, title) {
  const { width, height, left, right, top, bottom } = CURVE;
  const across = (number) => left + (number / (rows.length - 1)) * (width - left - right);
  const up = (value) => top + (1 - value) * (height - top - bottom);
  const points = rows.map((row, number) => [across(number), up(row.unusable_index)]);
  const lines = [0, 0.5, 1].map((value) => [
    svg("line", { class: "grid-line", x1: left, x2: width - right, y1: up(value), y2: up(value) }),
    svg("text", { x: left - 6, y: up(value) + 4, "text-anchor": "end" }, String(value)),
  ]);
  const labels = rows.map((row, number) =>
    svg("text", { x: across(number), y: height - 14, "text-anchor": "middle" }, formatBytes(row.request).replace(".0 ", " ")),
  );
  const dots = points.map(([x, y], number) => {
    const dot = svg("circle", { cx: x, cy: y, r: 3.5 });
    dot.append(svg("title", {}, `${formatBytes(rows[number].request)}: ${rows[number].unusable_index.toFixed(4)}`));
    return dot;
  });
  const told = rows.map((row) => `${formatBytes(row.request)} ${row.unusable_index.toFixed(3)}`).join(", ");
  const area = [`${left},${up(0)}`, ...points.map((point) => point.join()), `${width - right},${up(0)}`].join(" ");
  return svg(
    "svg",
    { class: "curve", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${told}` },
    ...lines.flat(),
    ...labels,
    svg("polygon", { class: "curve-area", points: area }),
    svg("polyline", { class: "curve-line", points: points.map((point) => point.join()).join(" ") }),
    ...dots,
  );
}
