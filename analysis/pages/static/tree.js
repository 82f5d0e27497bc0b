/* Allocations with their regions, and holes between them, as the rows of one tree. A node is a number: the row in
   its table times 4, plus which table it is of. */

const ALLOCATION = 0;
const REGION = 1;
const HOLE = 2;
const LEFT_OUT = 3; // regions that a page does not list; the tree has none, the map shows where they are

class Tree {
  #children;
  #found = { text: null, unit: null, hits: [] };

  constructor(lists) {
    this.tables = [lists.allocations, lists.regions, lists.free];
    this.#children = listChildren(lists.allocations.rows, lists.regions.column("parent"));
  }

  kind(node) {
    return node & 3;
  }

  row(node) {
    return node >> 2;
  }

  table(node) {
    return this.tables[node & 3];
  }

  /** Return a value of a node; undefined where its table has no such column. */
  value(node, name) {
    const table = this.tables[node & 3];
    return table.has(name) ? table.column(name)[node >> 2] : undefined;
  }

  /** Return the regions of an allocation, as nodes. */
  children(row) {
    return this.#children[row];
  }

  /** Return the columns of all kinds of nodes, each once. */
  columns() {
    const known = new Map();
    for (const table of this.tables) {
      for (const column of table?.columns ?? []) if (!known.has(column.name)) known.set(column.name, column);
    }
    return [...known.values()];
  }

  /** Tell whether every node is null in a column, or 0. */
  isBlank(name) {
    return this.tables.every((table) => !table?.has(name) || table.isBlank(name));
  }

  /** Tell whether no node says anything in a column. */
  isEmpty(name) {
    return this.tables.every((table) => !table?.has(name) || table.isEmpty(name));
  }

  /** Return the nodes to show, in order: `type`, `find`, `free`, `sort`, `unit` are the choices of a reader, `open`
      the allocations that are. Where only regions hold the text, they appear without being opened. */
  list({ type, find, free, sort, unit, open }) {
    const hits = this.#find(find ?? "", unit);
    const view = {
      finding: hits !== null,
      open,
      isOfType: (node) => !type || this.value(node, "type") === type,
      isHit: (node) => hits === null || hits[node & 3][node >> 2] === 1,
    };
    const nodes = [];
    for (const node of this.#order(sort, free || type === "Free" || type === "Unusable")) {
      if (this.kind(node) === ALLOCATION) this.#listAllocation(nodes, node, view);
      else if (view.isOfType(node) && view.isHit(node)) nodes.push(node);
    }
    return nodes;
  }

  #listAllocation(nodes, node, view) {
    const children = this.#children[node >> 2].filter(view.isOfType);
    if (children.length === 0 && !view.isOfType(node)) return;
    const isHit = view.isHit(node);
    const matching = view.finding && !isHit ? children.filter(view.isHit) : [];
    if (!isHit && matching.length === 0) return;
    nodes.push(node);
    if (this.#children[node >> 2].length < 2) return;
    nodes.push(...(view.open.has(node >> 2) ? children : matching));
  }

  #find(text, unit) {
    const wanted = text.toLowerCase();
    if (wanted === "") return null;
    if (this.#found.text !== wanted || this.#found.unit !== unit) {
      const hits = this.tables.map((table) => (table ? findRows(table, wanted, unit) : null));
      this.#found = { text: wanted, unit, hits };
    }
    return this.#found.hits;
  }

  #order(sort, free) {
    const nodes = Array.from({ length: this.tables[ALLOCATION].rows }, (_, row) => row * 4 + ALLOCATION);
    const holes = this.tables[HOLE];
    if (free && holes) for (let row = 0; row < holes.rows; row += 1) nodes.push(row * 4 + HOLE);
    const name = sort?.replace(/^-/, "") ?? "address";
    const unit = this.columns().find((column) => column.name === name)?.unit;
    if (unit === undefined || (name === "address" && sort !== "-address" && !free)) return nodes;
    const values = nodes.map((node) => this.value(node, name) ?? null);
    const places = nodes.map((_, place) => place).sort(compareBy(values, unit, sort?.startsWith("-")));
    return places.map((place) => nodes[place]);
  }

  /** Return the region, or else the hole, that holds an address; null for none. */
  locate(address) {
    for (const kind of [REGION, HOLE]) {
      const row = this.tables[kind] ? searchRange(this.tables[kind], address) : -1;
      if (row >= 0) return row * 4 + kind;
    }
    return null;
  }

  /** Return the allocation of a region, as a node. */
  parent(node) {
    const row = this.kind(node) === REGION ? this.value(node, "parent") : null;
    return row === null || row === undefined ? null : row * 4 + ALLOCATION;
  }
}

function listChildren(allocations, parents) {
  const children = Array.from({ length: allocations }, () => []);
  parents.forEach((parent, row) => {
    if (parent !== null) children[parent].push(row * 4 + REGION);
  });
  return children;
}

/** Return the last row that starts at or below an address, where it also ends above it; else -1. */
function searchRange(table, address) {
  const starts = table.column("address");
  let low = 0;
  let high = table.rows;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareExact(starts[middle], address) <= 0) low = middle + 1;
    else high = middle;
  }
  return low > 0 && compareExact(address, table.column("end")[low - 1]) < 0 ? low - 1 : -1;
}
