/* Paints spaces as rows of a canvas: the line of a layout is cut into rows, as lines of text are.

   Areas are written as pixels, so that painting takes the same time for ten regions and for a hundred thousand. */

const PARTIAL_STEPS = 4; // heights of a column that is covered in part
const LEAST_PART = 0.5; // the lowest of them, so that a single page shows
const FULL = 0.98;
const LETTER_ROOM = 13; // pixels that a letter needs
const NAME_ROOM = 64; // and a name beside it
const EDGE_ROOM = 5;
const FOLD_ROOM = 8;
const NO_CODE = 255;
const DIMMED = 256; // added to a code
const DIM = 0.18;
const HATCH = 7; // pixels from one line of a hatching to the next
const HATCH_LINE = 2;
const HATCH_INK = 0.7;
const LEFT_OUT_INK = 0.45;
const LEFT_OUT_LETTER = "…";

/** The colours of the theme of now: text for strokes, and pixels by code: `grounds`, and `lines` of a hatching. */
class MapColors {
  constructor(types) {
    const names = ["surface", "raised", "ink", "muted", "accent", "up", "down"];
    const tokens = resolveColors(names.map((name) => `var(--${name})`));
    this.tokens = Object.fromEntries(names.map((name, at) => [name, tokens[at]]));
    this.inks = [];
    this.letters = [];
    this.grounds = new Uint32Array(DIMMED * 2).fill(toPixel(this.tokens.raised));
    this.lines = this.grounds.slice();
    const free = typeColor("Free");
    const inks = types.map((type) => (type === "Unusable" ? "var(--ink)" : typeInk(type)));
    const resolved = resolveColors([free, ...types.map(typeColor), ...inks]);
    types.forEach((_, number) => this.#add(types, number, resolved));
    this.#addLeftOut(types.length * 2);
  }

  #add(types, number, resolved) {
    const type = types[number];
    const [free, color] = [resolved[0], resolved[1 + number]];
    const looks = [type === "Unusable" ? [free, color] : [color, color], [free, mixColors(free, color, HATCH_INK)]];
    looks.forEach(([ground, line], isReserved) => this.#setLook(number * 2 + isReserved, ground, line));
    this.inks.push(resolved[1 + types.length + number], this.tokens.ink);
    this.letters.push(TYPE_MARKS[type]?.letter ?? "?", TYPE_MARKS[type]?.letter ?? "?");
  }

  /** What the lists of a page leave out is hatched in the colours of no type. */
  #addLeftOut(code) {
    this.#setLook(code, this.tokens.raised, mixColors(this.tokens.raised, this.tokens.muted, LEFT_OUT_INK));
    this.inks[code] = this.tokens.ink;
    this.letters[code] = LEFT_OUT_LETTER;
  }

  #setLook(code, ground, line) {
    this.grounds[code] = toPixel(ground);
    this.lines[code] = toPixel(line);
    this.grounds[code + DIMMED] = toPixel(mixColors(this.tokens.surface, ground, DIM));
    this.lines[code + DIMMED] = toPixel(mixColors(this.tokens.surface, line, DIM));
  }
}

/** Return colours as a canvas takes them: what elements have of them, since light-dark() means nothing to a canvas. */
function resolveColors(values) {
  const probes = values.map((color) => h("span", { style: { color } }));
  const place = h("div", { hidden: true }, probes);
  document.body.append(place);
  const colors = probes.map((probe) => getComputedStyle(probe).color);
  place.remove();
  return colors;
}

function readParts(color) {
  return color.match(/[\d.]+/g).slice(0, 3).map(Number);
}

function mixColors(ground, color, part) {
  const [below, above] = [ground, color].map(readParts);
  return `rgb(${above.map((value, at) => Math.round(value * part + below[at] * (1 - part))).join(", ")})`;
}

/** Return a colour as one number, as the pixels of a canvas have it in memory (all browsers are little-endian). */
function toPixel(color) {
  const [red, green, blue] = readParts(color);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** What covers each column of pixels of a line: how much of it is mapped, and by what most. */
class Columns {
  constructor(count) {
    this.covered = new Float32Array(count);
    this.codes = new Uint8Array(count).fill(NO_CODE);
    this.most = new Float32Array(count);
    this.grounds = new Uint8Array(count).fill(NO_CODE);
    this.groundMost = new Float32Array(count);
  }

  /** Add an item that covers several columns, from one place to another in pixels. */
  addWide(from, to, code, isGround) {
    const [first, last] = [Math.floor(from), Math.min(Math.floor(to), this.covered.length - 1)];
    const codes = isGround ? this.grounds : this.codes;
    this.addPart(first, first + 1 - from, code, isGround);
    codes.fill(code, first + 1, last);
    if (!isGround) this.covered.fill(1, first + 1, last);
    this.addPart(last, to - last, code, isGround);
  }

  /** Add a part of one column. */
  addPart(column, part, code, isGround) {
    const [codes, most] = isGround ? [this.grounds, this.groundMost] : [this.codes, this.most];
    if (!isGround) this.covered[column] += part;
    if (part > most[column]) {
      most[column] = part;
      codes[column] = code;
    }
  }

  /** Return the height of a column as a part of the row: full, or one of a few steps. */
  height(column) {
    const covered = this.covered[column];
    if (covered >= FULL || covered === 0) return covered === 0 ? 0 : 1;
    return Math.max(LEAST_PART, Math.ceil(covered * PARTIAL_STEPS) / PARTIAL_STEPS);
  }
}

/** Sort the items of a track that are in sight into columns of pixels. Nearly all of many are within one column: that
    case is written out, since it is what a frame costs. */
function fillColumns(track, view, count) {
  const columns = new Columns(count);
  const { covered, codes, most, grounds, groundMost } = columns;
  const { space, from, to } = track;
  const scale = count / (view.to - view.from);
  const end = Math.min(space.count, searchLast(from, view.to) + 1);
  for (let item = Math.max(0, searchLast(from, view.from)); item < end; item += 1) {
    const left = (from[item] > view.from ? from[item] - view.from : 0) * scale;
    const right = ((to[item] < view.to ? to[item] : view.to) - view.from) * scale;
    if (right <= left || left >= count) continue;
    const [column, kind] = [left | 0, space.nodes[item] & 3];
    const isGround = kind === HOLE || kind === LEFT_OUT;
    if (right >= column + 1 && column + 1 < count) columns.addWide(left, right, space.codes[item], isGround);
    else if (isGround) {
      if (right - left > groundMost[column]) {
        groundMost[column] = right - left;
        grounds[column] = space.codes[item];
      }
    } else {
      covered[column] += right - left;
      if (right - left > most[column]) {
        most[column] = right - left;
        codes[column] = space.codes[item];
      }
    }
  }
  return columns;
}

/** Paint one track into rows. `rows` has width, count, tops, height and ratio, in pixels of the device. */
function paintTrack(context, colors, track, view, rows, only) {
  const columns = fillColumns(track, view, rows.width * rows.count);
  const image = context.createImageData(rows.width, rows.height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let row = 0; row < rows.count; row += 1) {
    paintRow(pixels, columns, row, rows, colors, only);
    context.putImageData(image, 0, rows.tops[row]);
  }
  paintNames(context, colors, track, view, rows, only);
}

/** Write the pixels of one row: of each column what covers it from below, and above that what it stands on. */
function paintRow(pixels, columns, row, rows, colors, only) {
  const { width, height, ratio } = rows;
  const tops = new Uint16Array(width);
  const looks = new Uint16Array(width);
  for (let x = 0; x < width; x += 1) {
    const code = columns.codes[row * width + x];
    tops[x] = code === NO_CODE ? height : Math.round(height * (1 - columns.height(row * width + x)));
    looks[x] = only === null || code >> 1 === only ? code : code + DIMMED;
  }
  const grounds = columns.grounds.subarray(row * width, (row + 1) * width);
  const [step, line] = [Math.round(HATCH * ratio), Math.round(HATCH_LINE * ratio)];
  let at = 0;
  for (let y = 0; y < height; y += 1) {
    let phase = y % step;
    for (let x = 0; x < width; x += 1) {
      const look = y >= tops[x] ? looks[x] : grounds[x];
      pixels[at++] = phase < line ? colors.lines[look] : colors.grounds[look];
      phase = phase + 1 === step ? 0 : phase + 1;
    }
  }
}

/** Return the part of a row that shows a stretch of the line, the widest if there are several; null for none. */
function findWidest(from, to, view, rows) {
  const scale = (rows.width * rows.count) / (view.to - view.from);
  const left = Math.max(0, (from - view.from) * scale);
  const right = Math.min(rows.width * rows.count, (to - view.from) * scale);
  if (right <= left) return null;
  const first = Math.floor(left / rows.width);
  const parts = [];
  for (let row = first; row < rows.count && row * rows.width < right && parts.length < 3; row += 1) {
    const start = Math.max(left - row * rows.width, 0);
    parts.push({ row, left: start, width: Math.min(right - row * rows.width, rows.width) - start });
  }
  return parts.reduce((widest, part) => (part.width > widest.width ? part : widest));
}

function paintNames(context, colors, track, view, rows, only) {
  const { space, from, to } = track;
  const scale = (rows.width * rows.count) / (view.to - view.from);
  const { ratio } = rows;
  context.textBaseline = "middle";
  const [least, end] = [(EDGE_ROOM * ratio) / scale, searchLast(from, view.to) + 1];
  for (let item = Math.max(0, searchLast(from, view.from)); item < end; item += 1) {
    if (to[item] - from[item] < least) continue;
    const part = findWidest(from[item], to[item], view, rows);
    if (part === null) continue;
    context.fillStyle = colors.tokens.surface;
    context.fillRect(part.left, rows.tops[part.row], ratio, rows.height);
    const code = space.codes[item];
    const isDim = only !== null && code >> 1 !== only;
    if (part.width >= LETTER_ROOM * ratio && !isDim && !track.isFolded(item)) {
      paintName(context, colors, { code, text: () => nameItem(space, item) }, part, rows);
    }
  }
}

function paintName(context, colors, { code, text }, part, rows) {
  const { ratio } = rows;
  const middle = rows.tops[part.row] + rows.height / 2;
  const isReserved = (code & 1) === 1;
  const letter = colors.letters[code];
  context.save();
  context.beginPath();
  context.rect(part.left + 2 * ratio, rows.tops[part.row], part.width - 4 * ratio, rows.height);
  context.clip();
  const words = part.width < NAME_ROOM * ratio ? letter : `${letter}  ${text()}`;
  context.font = `600 ${11 * ratio}px system-ui, sans-serif`;
  const width = Math.min(context.measureText(words).width, part.width - 8 * ratio);
  const left = part.width < NAME_ROOM * ratio ? part.left + (part.width - width) / 2 : part.left + 5 * ratio;
  if (isReserved || letter === TYPE_MARKS.Unusable.letter || letter === LEFT_OUT_LETTER) {
    context.fillStyle = colors.tokens.surface;
    context.fillRect(left - 3 * ratio, middle - 8 * ratio, width + 6 * ratio, 16 * ratio);
    context.fillStyle = colors.tokens.ink;
  } else context.fillStyle = colors.inks[code];
  context.fillText(words, left, middle + ratio / 2);
  context.restore();
}

/** Name an item in a word or two: the end of its path, or its size if it has none. */
function nameItem(space, item) {
  if (space.isLeftOut(item)) return tellLeftOut(space, item);
  const size = formatBytes(space.value(item, "size"));
  if (space.isHole(item)) return size;
  const details = takeLastPart(space.value(item, "details") ?? "");
  return details ? `${clipText(details)} ${size}` : size;
}

/** Mark where stretches are folded: the line is broken there, and the mark tells how long it is. */
function paintFolds(context, colors, track, layout, view, rows) {
  const { ratio, height } = rows;
  const least = (FOLD_ROOM * ratio * (view.to - view.from)) / (rows.width * rows.count);
  context.textBaseline = "middle";
  for (const piece of layout.pieces) {
    if (!piece.folded || piece.length < least || piece.at > view.to || piece.at + piece.length < view.from) continue;
    const part = findWidest(piece.at, piece.at + piece.length, view, rows);
    if (part === null || part.width < FOLD_ROOM * ratio) continue;
    const middle = part.left + part.width / 2;
    const top = rows.tops[part.row];
    const text = track.space.find(piece.low) === NOTHING ? "not in the lists" : formatBytes(toPlain(piece.high - piece.low));
    context.font = `${11 * ratio}px system-ui, sans-serif`;
    const isTold = context.measureText(text).width + 22 * ratio < part.width;
    paintBreak(context, colors, isTold ? part.left + 6 * ratio : middle, top, height, ratio);
    if (!isTold) continue;
    paintBreak(context, colors, part.left + part.width - 6 * ratio, top, height, ratio);
    const width = context.measureText(text).width + 8 * ratio;
    context.fillStyle = colors.tokens.surface;
    context.fillRect(middle - width / 2, top + height / 2 - 9 * ratio, width, 18 * ratio);
    context.fillStyle = colors.tokens.ink;
    context.fillText(text, middle - width / 2 + 4 * ratio, top + height / 2 + ratio / 2);
  }
}

function paintBreak(context, colors, middle, top, height, ratio) {
  context.fillStyle = colors.tokens.surface;
  context.strokeStyle = colors.tokens.muted;
  context.lineWidth = ratio;
  const [wide, lean] = [2.5 * ratio, 3 * ratio];
  const bottom = top + height;
  context.beginPath();
  context.moveTo(middle - wide + lean, top);
  context.lineTo(middle + wide + lean, top);
  context.lineTo(middle + wide - lean, bottom);
  context.lineTo(middle - wide - lean, bottom);
  context.fill();
  for (const side of [-wide, wide]) {
    context.beginPath();
    context.moveTo(middle + side + lean, top);
    context.lineTo(middle + side - lean, bottom);
    context.stroke();
  }
}

/** Write the address with which each row starts above it, and where the last one ends. */
function paintAddresses(context, colors, layout, view, rows) {
  const { ratio } = rows;
  const bytes = (view.to - view.from) / rows.count;
  context.font = `${10.5 * ratio}px ui-monospace, "DejaVu Sans Mono", Consolas, monospace`;
  context.textBaseline = "alphabetic";
  context.fillStyle = colors.tokens.muted;
  for (let row = 0; row < rows.count; row += 1) {
    context.fillText(formatAddress(layout.address(view.from + row * bytes)), 0, rows.tops[row] - 3 * ratio);
  }
  const end = `to ${formatAddress(layout.address(view.to))}`;
  const left = rows.width - context.measureText(end).width;
  context.fillText(end, left, rows.tops[rows.count - 1] - 3 * ratio);
}
