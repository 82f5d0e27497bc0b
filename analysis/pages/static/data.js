// The data of a page: blocks of compressed JSON, and tables by column. The contract is analysis/pages/schema.py.

/** Decode one block of the page, as `page` or `snapshot-3`; null where the page has no such block. */
async function readBlock(name) {
  const element = document.getElementById(`block-${name}`);
  if (!element) return null;
  const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}

/** A table by column: `rows`, `columns` ({name, title, unit}), `column(name)` (a list), `at(row)` (an object). */
class DataTable {
  constructor(encoded, texts) {
    this.name = encoded.name;
    this.rows = encoded.rows;
    this.columns = encoded.columns;
    this._data = encoded.data;
    this._texts = texts;
    this._decoded = new Map();
  }

  /** Whether there is a column of this name. */
  has(name) {
    return this.columns.some((column) => column.name === name);
  }

  /** The values of a column: text as text, numbers as numbers, those beyond 2^53 as text for BigInt(). */
  column(name) {
    if (!this._decoded.has(name)) this._decoded.set(name, this._decode(name));
    return this._decoded.get(name);
  }

  /** The values of a column in one row. */
  at(row) {
    return Object.fromEntries(this.columns.map(({ name }) => [name, this.column(name)[row]]));
  }

  _decode(name) {
    const unit = this.columns.find((column) => column.name === name)?.unit;
    if (unit === undefined) return new Array(this.rows).fill(null);
    let values = this._data[name];
    if (values === undefined) return this._addEnds();
    if (!Array.isArray(values)) {
      values = "steps" in values ? addSteps(values.steps) : new Array(this.rows).fill(values.same);
    }
    return unit === "text" ? values.map((value) => (value === null ? null : this._texts[value])) : values;
  }

  _addEnds() {
    const sizes = this.column("size");
    return this.column("address").map((start, row) => addExact(start, sizes[row]));
  }
}

function addSteps(steps) {
  let sum = 0;
  return steps.map((step) => (sum += step));
}

/** Add two integers of a page; what a number cannot hold exactly is hex text, as in the data. */
function addExact(a, b) {
  if (a === null || b === null) return null;
  const sum = typeof a === "number" && typeof b === "number" ? a + b : NaN;
  if (Number.isSafeInteger(sum)) return sum;
  const exact = BigInt(a) + BigInt(b);
  return exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : `0x${exact.toString(16).padStart(16, "0")}`;
}

const _lists = new Map();

/** Read the block `page`, its tables as DataTable. */
async function readPage() {
  const page = await readBlock("page");
  const open = (table) => new DataTable(table, page.texts);
  for (const snapshot of page.snapshots) {
    snapshot.summary = open(snapshot.summary);
    snapshot.limits = open(snapshot.limits);
  }
  for (const diff of page.diffs) {
    diff.tables = Object.fromEntries(Object.entries(diff.tables).map(([name, table]) => [name, open(table)]));
  }
  for (const trend of page.trends) trend.rows = open(trend.rows);
  return page;
}

/** Read the lists of a snapshot by its id, its tables as DataTable; null where the page does not have them. */
function readLists(id) {
  if (!_lists.has(id)) _lists.set(id, _openLists(id));
  return _lists.get(id);
}

async function _openLists(id) {
  const lists = await readBlock(`snapshot-${id}`);
  if (!lists) return null;
  for (const [name, value] of Object.entries(lists)) {
    if (value && Array.isArray(value.columns)) lists[name] = new DataTable(value, lists.texts);
  }
  return lists;
}
