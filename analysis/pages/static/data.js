/* The blocks of a page, decoded, and their tables as plain columns (analysis/pages/schema.py has the contract).

   An integer beyond 2^53 - 1 stays text here; BigInt(value) is exact for every integer of a page. */

/** Return a block of data of this page, or null where there is none of that id. */
async function readBlock(id) {
  const element = document.getElementById(id);
  if (element === null) return null;
  const packed = new Blob([decodeBase64(element.textContent.trim())]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** Return the block of the page itself, its tables decoded. */
async function readPage() {
  const page = await readBlock("page");
  const decode = (table) => new Table(table, page.texts);
  for (const snapshot of page.snapshots) {
    snapshot.summary = decode(snapshot.summary);
    snapshot.limits = decode(snapshot.limits);
  }
  for (const diff of page.diffs) {
    for (const name of Object.keys(diff.tables)) diff.tables[name] = decode(diff.tables[name]);
  }
  for (const each of page.rooms) if (each.room !== null) each.room = decode(each.room);
  if (page.roles !== null) page.roles.rows = decode(page.roles.rows);
  for (const trend of page.trends) trend.rows = decode(trend.rows);
  return page;
}

/** Return the lists of a snapshot, their tables decoded; null for a snapshot that keeps none. */
async function readLists(id) {
  const block = await readBlock(`snapshot-${id}`);
  if (block === null) return null;
  for (const [name, value] of Object.entries(block)) {
    if (value !== null && Array.isArray(value.columns)) block[name] = new Table(value, block.texts);
  }
  return block;
}

/** A table by columns, each decoded when it is first asked for. */
class Table {
  #data;
  #texts;
  #decoded = new Map();

  constructor(raw, texts) {
    this.name = raw.name;
    this.rows = raw.rows;
    this.columns = raw.columns;
    this.#data = raw.data;
    this.#texts = texts;
  }

  has(name) {
    return this.columns.some((column) => column.name === name);
  }

  /** Return a column as a list: numbers, text, true or false; null is unknown. */
  column(name) {
    let values = this.#decoded.get(name);
    if (values === undefined) {
      values = this.#decode(name);
      this.#decoded.set(name, values);
    }
    return values;
  }

  /** Return an integer as a BigInt, null where it is unknown. */
  exact(name, row) {
    const value = this.column(name)[row];
    return value === null ? null : BigInt(value);
  }

  /** Return an integer as a number to draw with: its last digits may be lost. Null where it is unknown. */
  number(name, row) {
    const value = this.column(name)[row];
    return value === null ? null : Number(value);
  }

  /** Return a row as an object. */
  row(row) {
    return Object.fromEntries(this.columns.map(({ name }) => [name, this.column(name)[row]]));
  }

  /** Tell whether a column says nothing in any row. */
  isEmpty(name) {
    return this.column(name).every((value) => value === null);
  }

  /** Tell whether every row of a column is null, or 0. */
  isBlank(name) {
    return this.column(name).every((value) => value === null || value === 0);
  }

  #decode(name) {
    const column = this.columns.find((each) => each.name === name);
    if (column === undefined) throw new Error(`the table ${this.name} has no column ${name}`);
    const stored = this.#data[name];
    if (stored === undefined) return this.#addEnds();
    if ("like" in stored) return this.column(stored.like);
    const values = unfold(stored, this.rows);
    if (column.unit !== "text") return values;
    return values.map((value) => (typeof value === "number" ? this.#texts[value] : value));
  }

  #addEnds() {
    const sizes = this.column("size");
    return this.column("address").map((address, row) => addExact(address, sizes[row]));
  }
}

/** Make a table of columns that are decoded already; `columns` are their descriptions. */
function makeTable(name, columns, data) {
  const rows = Math.max(0, ...Object.values(data).map((values) => values.length));
  return new Table({ name, rows, columns, data }, []);
}

function unfold(stored, rows) {
  if (Array.isArray(stored)) return stored;
  if ("same" in stored) return new Array(rows).fill(stored.same);
  let address = 0;
  return stored.steps.map((step) => (address += step));
}

/** Write an exact integer as a page has it: a number as far as that is exact, text beyond. */
function toPlain(exact) {
  return BigInt.asIntN(54, exact) === exact && Number.isSafeInteger(Number(exact))
    ? Number(exact)
    : String(exact);
}

/** Add two integers exactly; null where one is unknown. */
function addExact(a, b) {
  if (a === null || b === null) return null;
  const sum = typeof a === "number" && typeof b === "number" ? a + b : NaN;
  return Number.isSafeInteger(sum) ? sum : toPlain(BigInt(a) + BigInt(b));
}

/** Subtract two integers exactly; null where one is unknown. */
function subtractExact(a, b) {
  if (a === null || b === null) return null;
  const rest = typeof a === "number" && typeof b === "number" ? a - b : NaN;
  return Number.isSafeInteger(rest) ? rest : toPlain(BigInt(a) - BigInt(b));
}

/** Compare two integers, exact whether they are numbers, BigInt or text of either. */
function compareExact(a, b) {
  const left = typeof a === "string" ? BigInt(a) : a;
  const right = typeof b === "string" ? BigInt(b) : b;
  return left < right ? -1 : left > right ? 1 : 0;
}
