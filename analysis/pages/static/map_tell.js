/* What a map says in words of the place that is pointed at: what is there, how large, and what lies beside it. */

const MAP_HINT =
  "Point at the map, or tab to it: arrow keys go from region to region, + and − zoom, 0 shows all, Enter selects. " +
  "Once it was clicked, the wheel zooms; drag to pan, double-click to zoom to a region.";
const MOST_LETTERS = 80;
const MAP_FIGURES = [
  ["committed", "committed"],
  ["private", "private"],
  ["total_ws", "in the working set"],
];

/** Describe a place as elements: `at` has track and item, or is null for no place. */
function describePlace({ layout, tracks }, at) {
  if (at === null) return [h("p", { class: "muted" }, MAP_HINT)];
  const { space, label } = tracks[at.track];
  const side = label ? h("b", {}, `${label}: `) : null;
  if (at.item === NOTHING) return [h("p", {}, side, describeNothing(layout, at.place))];
  return [
    h("p", {}, side, describeItem(space, at.item)),
    h("p", {}, describeFigures(space, at.item)),
    h("p", { class: "muted" }, describeNeighbours(space, at.item)),
  ];
}

function describeNothing(layout, place) {
  return `${formatAddress(layout.address(place))}: no region or hole of the lists of this page lies here`;
}

/** Say what stands for regions that the lists of a page leave out. */
function tellLeftOut(space, item) {
  return `folded: ${formatMany(space.value(item, "regions"), "region")}, ${formatBytes(space.value(item, "mapped"))}`;
}

function describeItem(space, item) {
  if (space.isLeftOut(item)) {
    const range = `${formatAddress(space.starts[item])} – ${formatAddress(space.ends[item])} `;
    return [h("b", {}, `${tellLeftOut(space, item)} `), h("span", { class: "address" }, range), "not listed on this page, to keep it small"];
  }
  const type = space.value(item, "type");
  const size = space.value(item, "size");
  return [
    makeMark(type),
    h("b", {}, ` ${type} `),
    h("span", { class: "address" }, `${formatAddress(space.starts[item])} – ${formatAddress(space.ends[item])} `),
    h("b", {}, formatBytes(size)),
    h("small", {}, ` ${formatExact(size)}`),
  ];
}

function describeFigures(space, item) {
  if (space.isLeftOut(item)) return "";
  if (space.isHole(item)) {
    return space.value(item, "type") === "Free" ? "" : "lost to the granularity of allocations: nothing can be placed here";
  }
  const figures = MAP_FIGURES.map(([name, words]) => [space.value(item, name), words])
    .filter(([value]) => value !== null)
    .map(([value, words]) => `${formatBytes(value)} ${words}`);
  const state = space.value(item, "state") === "reserved" ? "reserved" : null;
  const parts = [space.value(item, "protection"), state, ...figures].filter(Boolean).join(", ");
  return [parts, space.value(item, "details") ? ` · ${space.value(item, "details")}` : ""];
}

function describeNeighbours(space, item) {
  const [below, above] = [item - 1, item + 1].map((near) => nameNeighbour(space, near, near < item ? item : near));
  return `below: ${below} · above: ${above}`;
}

/** Name a neighbour; `upper` is the higher of the two, which shows if there is a gap between them. */
function nameNeighbour(space, near, upper) {
  if (near < 0) return RANGE_ENDS[0][1];
  if (near >= space.count) return RANGE_ENDS[1][1];
  if (space.ends[upper - 1] !== space.starts[upper]) return "nothing that this page lists";
  if (space.isLeftOut(near)) return tellLeftOut(space, near);
  const details = space.value(near, "details");
  const name = details ? ` ${clipText(takeLastPart(details))}` : "";
  return `${space.value(near, "type")}${name}, ${formatBytes(space.value(near, "size"))}`;
}

/** Cut text that is longer than any name that a person gives. */
function clipText(text) {
  return text.length <= MOST_LETTERS ? text : `${[...text.slice(0, MOST_LETTERS)].slice(0, -1).join("")}…`;
}
