/* The maps of two snapshots that are compared, and what changed between them.

   Of one process both lie on one line, so that the same address stands below itself. Two processes have no address
   in common: each has a line of its own. */

const PAIR_ROWS = [3, 6];
const PAIR_HEIGHT = 22;
const PAIR_WORDS = ["Before", "After"];
const CHANGE_LOOKS = {
  gone: { sign: "−", color: "down", top: 0, part: 0.5 },
  new: { sign: "+", color: "up", top: 0.5, part: 0.5 },
};
const CHANGED_LOOK = { sign: "≠", color: "accent", top: 0, part: 1 };
const LEAST_CHANGE = 3; // pixels: the smallest change is seen
const SIGN_ROOM = 12;

/** Show the pair of maps of the two snapshots that are chosen for comparison, below what is said of them. */
function mountMapPair(host, app) {
  const place = h("div", { class: "map-pair" });
  host.append(place);
  let shown = "";
  let views = [];
  async function update() {
    const pair = choosePair(app);
    if (String(pair?.join("-")) === shown) return;
    shown = String(pair?.join("-"));
    if (pair === null) {
      for (const view of views) view.close();
      views = [];
      place.replaceChildren();
      return;
    }
    const [diff, ...lists] = await Promise.all([findDiff(app, pair), ...pair.map((id) => app.lists(id))]);
    if (String(choosePair(app)?.join("-")) !== pair.join("-")) return;
    for (const view of views) view.close();
    views = drawMapPair(place, app, diff, lists);
  }
  app.state.subscribe(["diff", "snapshot"], update);
  update();
}

/** Draw the maps of a comparison, or say why there are none; returns those that were drawn. */
function drawMapPair(place, app, diff, lists) {
  const pair = [diff.a, diff.b];
  place.replaceChildren(h("h3", {}, `Both maps: ${diff.a + 1} before, ${diff.b + 1} after`));
  const lacking = pair.filter((_, side) => !lists[side]?.regions?.rows);
  if (lacking.length > 0) {
    const which = lacking.map((id) => String(id + 1)).join(" and ");
    place.append(h("p", { class: "note" }, `The regions of snapshot ${which} are not on this page: no map can be drawn.`));
    return [];
  }
  const spaces = lists.map((each) => new Space(each, app.page.types));
  const aligned = diff.mode === "summaries" ? isOneProcess(app.page, ...pair) : diff.mode === "same";
  const changes = aligned ? findChanges(diff, spaces) : [];
  place.append(h("p", { class: "about" }, tellPair(aligned, changes)));
  if (aligned) return [drawAligned(place, app, pair, spaces, changes)];
  return spaces.map((space, side) => drawOne(place, app, pair, space, side));
}

function tellPair(aligned, changes) {
  if (!aligned) return "Two instances of a process: their addresses have nothing to do with each other, so each has its own line.";
  if (changes === null) return "Of one of the two not all regions are on this page: what changed is not marked.";
  if (changes.length === 0) return "No range of addresses changed its type, state, protection or backing.";
  const count = (word) => changes.filter((change) => change.word === word).length;
  const words = ["new", "gone"].filter((word) => count(word) > 0).map((word) => `${formatCount(count(word))} ${word} (${CHANGE_LOOKS[word].sign})`);
  const rest = changes.length - count("new") - count("gone");
  if (rest > 0) words.push(`${formatCount(rest)} changed (${CHANGED_LOOK.sign})`);
  return `Ranges of addresses: ${words.join(", ")}; marked between the two maps.`;
}

/** List what changed, by address: the ranges of the comparison, or what the lists tell where the page has none.
    Lists that are not whole tell nothing: null. */
function findChanges(diff, spaces) {
  const { ranges } = diff.tables;
  const isWhole = spaces.every(({ lists }) => lists.folded.length === 0);
  if (ranges === undefined) return isWhole ? compareSpaces(...spaces) : null;
  const changes = [];
  for (let row = 0; row < ranges.rows; row += 1) {
    const side = ranges.exact("address_b", row) === null ? "a" : "b";
    const [low, high] = [ranges.exact(`address_${side}`, row), ranges.exact(`end_${side}`, row)];
    if (low !== null && high !== null) changes.push({ low, high, word: ranges.column("word")[row] });
  }
  return changes;
}

/** Compare two spaces by address: ranges that only one of them maps, or whose type, state or protection differs. */
function compareSpaces(before, after) {
  const changes = [];
  const sides = [before, after].map((space) => ({ space, at: 0 }));
  const cuts = [...new Set([before, after].flatMap((space) => [...space.starts, ...space.ends]))].sort((a, b) => compareExact(a, b));
  for (let cut = 0; cut + 1 < cuts.length; cut += 1) {
    const looks = sides.map((side) => readLook(side, cuts[cut]));
    if (looks[0] === looks[1]) continue;
    const word = looks[0] === null ? "new" : looks[1] === null ? "gone" : "changed";
    const last = changes.at(-1);
    if (last?.high === cuts[cut] && last.word === word) last.high = cuts[cut + 1];
    else changes.push({ low: cuts[cut], high: cuts[cut + 1], word });
  }
  return changes;
}

/** Return what lies at an address, as text to compare; null where nothing is mapped. Addresses are asked in order. */
function readLook(side, address) {
  const { space } = side;
  while (side.at < space.count && space.ends[side.at] <= address) side.at += 1;
  if (side.at >= space.count || space.starts[side.at] > address || space.isHole(side.at)) return null;
  return `${space.codes[side.at]} ${space.value(side.at, "protection")} ${space.value(side.at, "details")}`;
}

function drawAligned(place, app, pair, spaces, changes) {
  const view = makePairMap(place, app, pair, [PAIR_HEIGHT, PAIR_HEIGHT], "Maps of both snapshots, one above the other", null);
  const layout = layFolded(spaces, ...readUsable(app, pair[1]));
  const tracks = spaces.map((space, side) => makeTrack(space, layout, PAIR_WORDS[side]));
  const marks = (changes ?? []).map(({ low, high, word }) => ({ from: layout.place(low), to: layout.place(high), word }));
  view.show({ layout, tracks, marks, leastBytes: app.page.snapshots[pair[1]].page_size });
  return view;
}

function drawOne(place, app, pair, space, side) {
  place.append(h("p", { class: "about" }, `${PAIR_WORDS[side]}: ${app.page.snapshots[pair[side]].label}`));
  const view = makePairMap(place, app, pair, [PAIR_HEIGHT], `Map of the snapshot ${PAIR_WORDS[side].toLowerCase()}`, side);
  const layout = layFolded([space], ...readUsable(app, pair[side]));
  view.show({ layout, tracks: [makeTrack(space, layout)], leastBytes: app.page.snapshots[pair[side]].page_size });
  return view;
}

/** Make a map of the pair; a choice on it shows the snapshot of its side, and selects the region there. */
function makePairMap(place, app, pair, heights, label, side) {
  const view = new MapView(place, {
    types: app.page.types,
    heights,
    rows: PAIR_ROWS,
    label: `${label}: arrow keys go from region to region, Enter selects`,
    choose: (address, track) => chooseSnapshot(app, pair[side ?? track], { sel: address }),
  });
  const zoom = (factor) => () => view.zoom(factor);
  const buttons = [
    makeButton("−", "Zoom out ( − )", zoom(1 / ZOOM_STEP), { "aria-label": "Zoom out" }),
    makeButton("+", "Zoom in ( + )", zoom(ZOOM_STEP), { "aria-label": "Zoom in" }),
    makeButton("All", "Show the whole of it ( 0 )", () => view.showAll()),
  ];
  view.element.before(h("div", { class: "tools" }, h("span", { class: "picker" }, buttons)));
  return view;
}

function readUsable(app, id) {
  return app.page.snapshots[id].usable.slice(0, 2).map(BigInt);
}

/** Paint a change into the lane between two tracks: gone above, new below, changed across; with its sign. */
function paintChange(context, colors, { from, to, word }, view, rows) {
  const { ratio } = rows;
  const part = findWidest(from, to, view, rows) ?? findWidest(from, from + (view.to - view.from) / rows.width, view, rows);
  if (part === null || from > view.to || to < view.from) return;
  const look = CHANGE_LOOKS[word] ?? CHANGED_LOOK;
  const scale = (rows.width * rows.count) / (view.to - view.from);
  const [left, right] = [Math.max(0, (from - view.from) * scale), Math.min(rows.width * rows.count, (to - view.from) * scale)];
  context.fillStyle = colors.tokens[look.color];
  for (let row = Math.floor(left / rows.width); row < rows.count && row * rows.width <= right; row += 1) {
    const start = Math.max(left - row * rows.width, 0);
    const width = Math.max(Math.min(right - row * rows.width, rows.width) - start, LEAST_CHANGE * ratio);
    context.fillRect(start, rows.tops[row] + rows.height * look.top + ratio, width, rows.height * look.part - 2 * ratio);
  }
  if (part.width < SIGN_ROOM * ratio) return;
  const middle = rows.tops[part.row] + rows.height / 2;
  const center = part.left + part.width / 2;
  context.fillStyle = colors.tokens.surface;
  context.fillRect(center - 7 * ratio, middle - rows.height / 2, 14 * ratio, rows.height);
  context.fillStyle = colors.tokens[look.color];
  context.font = `700 ${12 * ratio}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(look.sign, center, middle);
  context.textAlign = "start";
}
