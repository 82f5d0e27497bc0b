/* The address space as a line: what lies on it in order, and where on the line an address is drawn.

   Addresses are BigInt. A place on the line is a number: bytes from its start, with long empty stretches folded. It
   is the sum of differences within a piece of the line, so that it is exact far below a pixel. */

const NOTHING = -1;
const LONGEST_FOLD = 2; // a stretch is folded where that makes it at most half as long

/** What lies in an address space, by address: regions, holes and what the lists leave out, as nodes of the tree (row
    times 4, plus which). */
class Space {
  constructor(lists, types) {
    const parts = [
      listItems(lists.regions, REGION, types),
      listItems(lists.free, HOLE, types),
      listItems(lists.left_out, LEFT_OUT, types),
    ];
    this.lists = lists;
    this.count = parts.reduce((sum, part) => sum + part.starts.length, 0);
    this.starts = new Array(this.count);
    this.ends = new Array(this.count);
    this.nodes = new Int32Array(this.count);
    this.codes = new Uint8Array(this.count);
    this.#merge(parts);
  }

  /** Put the items of all parts, each by address, into one order. */
  #merge(parts) {
    const places = parts.map(() => 0);
    for (let item = 0; item < this.count; item += 1) {
      let first = -1;
      for (let part = 0; part < parts.length; part += 1) {
        const start = parts[part].starts[places[part]];
        if (start !== undefined && (first < 0 || start < parts[first].starts[places[first]])) first = part;
      }
      const [part, at] = [parts[first], places[first]++];
      this.starts[item] = part.starts[at];
      this.ends[item] = part.ends[at];
      this.nodes[item] = part.nodes[at];
      this.codes[item] = part.codes[at];
    }
  }

  /** Tell whether an item is a hole. */
  isHole(item) {
    return (this.nodes[item] & 3) === HOLE;
  }

  /** Tell whether an item stands for regions that the lists leave out. */
  isLeftOut(item) {
    return (this.nodes[item] & 3) === LEFT_OUT;
  }

  /** Tell whether an item may be folded: a hole, or address space that is only reserved. */
  isEmpty(item) {
    return this.isHole(item) || (this.codes[item] & 1) === 1;
  }

  /** Return a value of an item by its column; null where its table has no such column. */
  value(item, name) {
    const table = [null, this.lists.regions, this.lists.free, this.lists.left_out][this.nodes[item] & 3];
    return table.has(name) ? table.column(name)[this.nodes[item] >> 2] : null;
  }

  /** Return the item that holds an address, or NOTHING. */
  find(address) {
    const item = searchLast(this.starts, address);
    return item >= 0 && address < this.ends[item] ? item : NOTHING;
  }
}

/** List the rows of a table as items by address, in columns. A code is twice the number of the type, plus 1 for
    reserved; what is left out has the number after the last type. */
function listItems(table, kind, types) {
  const part = { starts: [], ends: [], nodes: [], codes: [] };
  if (table === null) return part;
  const codes = new Map(types.map((type, number) => [type, number * 2]));
  const [addresses, sizes] = ["address", "size"].map((name) => table.column(name));
  const names = kind === LEFT_OUT ? [] : table.column("type");
  const states = kind === REGION ? table.column("state") : [];
  for (let row = 0; row < table.rows; row += 1) {
    if (addresses[row] === null || sizes[row] === null) continue;
    const start = BigInt(addresses[row]);
    part.starts.push(start);
    part.ends.push(start + BigInt(sizes[row]));
    part.nodes.push(row * 4 + kind);
    part.codes.push(kind === LEFT_OUT ? types.length * 2 : (codes.get(names[row]) ?? 0) + (states[row] === "reserved" ? 1 : 0));
  }
  return part;
}

function mergeSorted(left, right, key) {
  const merged = [];
  let at = 0;
  for (const item of left) {
    while (at < right.length && key(right[at]) < key(item)) merged.push(right[at++]);
    merged.push(item);
  }
  return merged.concat(right.slice(at));
}

/** Return the last place of a rising list whose value is at most the wanted one, or -1. */
function searchLast(values, wanted) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** A line of pieces, each of which stands for a range of addresses: to scale, or folded to a shorter length. */
class Layout {
  #bases;
  #ats;

  constructor(pieces) {
    this.pieces = pieces;
    this.#bases = pieces.map((piece) => piece.low);
    this.#ats = pieces.map((piece) => piece.at);
    const last = pieces.at(-1);
    this.length = last.at + last.length;
    this.low = pieces[0].low;
    this.high = last.high;
  }

  /** Return the place of an address on the line, between 0 and its length. */
  place(address) {
    const number = Math.max(0, searchLast(this.#bases, address));
    return placeInPiece(this.pieces[number], address);
  }

  /** Return the address that is drawn at a place. */
  address(place) {
    const piece = this.pieces[Math.max(0, searchLast(this.#ats, place))];
    const within = Math.min(Math.max(place - piece.at, 0), piece.length);
    if (!piece.folded) return piece.low + BigInt(Math.floor(within));
    return piece.low + BigInt(Math.floor((within / piece.length) * Number(piece.high - piece.low)));
  }

  /** Return where all items of a space start and end on the line, as two rising lists. */
  placeAll(space) {
    const [from, to] = [new Float64Array(space.count), new Float64Array(space.count)];
    let number = 0;
    for (let item = 0; item < space.count; item += 1) {
      number = this.#advance(number, space.starts[item]);
      from[item] = placeInPiece(this.pieces[number], space.starts[item]);
      const last = this.#advance(number, space.ends[item] - 1n);
      to[item] = placeInPiece(this.pieces[last], space.ends[item]);
    }
    return { from, to };
  }

  #advance(number, address) {
    while (number + 1 < this.pieces.length && this.#bases[number + 1] <= address) number += 1;
    return number;
  }
}

function placeInPiece({ low, high, at, length, folded }, address) {
  if (address <= low) return at;
  if (address >= high) return at + length;
  const within = Number(address - low);
  return at + (folded ? (within / Number(high - low)) * length : within);
}

/** Lay out one range of addresses to scale. */
function layStraight(low, high) {
  return new Layout([{ low, high, at: 0, length: Number(high - low), folded: false }]);
}

/** Lay out all that spaces hold within a range and beyond. Holes, reservations and what no space lists are folded,
    the longest first, until they are together as long as all else. */
function layFolded(spaces, low, high) {
  const solid = spaces.map(listSolid).reduce((left, right) => joinRanges(mergeSorted(left, right, ([start]) => start)));
  if (solid.length === 0) return layStraight(low, high);
  const first = solid[0][0] < low ? solid[0][0] : low;
  const last = solid.at(-1)[1] > high ? solid.at(-1)[1] : high;
  const cuts = spaces.map(listEnds).reduce((left, right) => mergeSorted(left, right, (cut) => cut));
  const stretches = listStretches(solid, cuts, first, last);
  const lengths = stretches.filter(({ isEmpty }) => isEmpty).map(({ low, high }) => Number(high - low));
  const cap = findCap(lengths, sumRanges(solid));
  const pieces = [];
  for (const { low, high, isEmpty } of stretches) addPiece(pieces, low, high, isEmpty ? cap : Infinity);
  return new Layout(pieces);
}

/** Add a stretch to the pieces of a line: folded if it is far longer than a cap, else as a part of the one before. */
function addPiece(pieces, low, high, cap) {
  const length = Number(high - low);
  const folded = length > cap * LONGEST_FOLD;
  const before = pieces.at(-1);
  const at = before === undefined ? 0 : before.at + before.length;
  if (folded) pieces.push({ low, high, at, length: cap, folded });
  else if (before === undefined || before.folded) pieces.push({ low, high, at, length, folded });
  else Object.assign(before, { high, length: before.length + length });
}

/** List all stretches of a range in order: solid ones, and between them the empty ones, cut where items begin. */
function listStretches(solid, cuts, first, last) {
  const stretches = [];
  let from = first;
  let at = 0;
  for (const [start, end] of [...solid, [last, last]]) {
    while (at < cuts.length && cuts[at] <= from) at += 1;
    for (; at < cuts.length && cuts[at] < start; at += 1) {
      if (cuts[at] > from) stretches.push({ low: from, high: cuts[at], isEmpty: true });
      from = cuts[at];
    }
    if (start > from) stretches.push({ low: from, high: start, isEmpty: true });
    if (end > start) stretches.push({ low: start, high: end, isEmpty: false });
    from = end;
  }
  return stretches;
}

/** List where the empty items of a space begin and end, as rising addresses. */
function listEnds(space) {
  const cuts = [];
  for (let item = 0; item < space.count; item += 1) {
    if (space.isEmpty(item)) cuts.push(space.starts[item], space.ends[item]);
  }
  return cuts;
}

function listSolid(space) {
  const ranges = [];
  let last = null;
  for (let item = 0; item < space.count; item += 1) {
    if (space.isEmpty(item)) continue;
    if (last !== null && space.starts[item] <= last[1]) last[1] = space.ends[item] > last[1] ? space.ends[item] : last[1];
    else ranges.push((last = [space.starts[item], space.ends[item]]));
  }
  return ranges;
}

/** Join ranges in order of their starts that touch or overlap. */
function joinRanges(ranges) {
  const joined = [];
  for (const [start, end] of ranges) {
    const before = joined.at(-1);
    if (before === undefined || start > before[1]) joined.push([start, end]);
    else if (end > before[1]) before[1] = end;
  }
  return joined;
}

function sumRanges(ranges) {
  return ranges.reduce((sum, [start, end]) => sum + Number(end - start), 0);
}

/** Return the length to which gaps are cut so that together they are as long as a budget. */
function findCap(lengths, budget) {
  const rising = Float64Array.from(lengths).sort();
  let rest = budget;
  for (let number = 0; number < rising.length; number += 1) {
    const share = rest / (rising.length - number);
    if (rising[number] > share) return share;
    rest -= rising[number];
  }
  return Infinity;
}

/** Place a space on a layout. */
function makeTrack(space, layout, label = "") {
  const { from, to } = layout.placeAll(space);
  const hasFolds = layout.pieces.length > 1;
  const isFolded = (item) => hasFolds && Number(space.ends[item] - space.starts[item]) - (to[item] - from[item]) > 1;
  return { space, from, to, isFolded, label };
}
