/* Where a text occurs in a table: in text, in numbers as they are shown, and the row that holds an address. */

const LIKE_NUMBER = /^(0x)?[0-9a-f.,]+( ?[kmgt]?i?b)?$/;
const LIKE_ADDRESS = /^(0x)?[0-9a-f]{4,16}$/;

/** Return a byte for each row: 1 where a column of it holds `wanted` (lower case), as it is shown in `unit`. */
function findRows(table, wanted, unit) {
  const hits = new Uint8Array(table.rows);
  for (const column of table.columns) {
    const mayHold = column.unit === "text" || LIKE_NUMBER.test(wanted);
    if (mayHold && column.unit !== "row")
      markColumn(hits, table.column(column.name), column.unit, wanted, unit);
  }
  if (LIKE_ADDRESS.test(wanted) && table.has("end")) markRange(hits, table, wanted);
  return hits;
}

function markColumn(hits, values, unit, wanted, size) {
  const digits = unit === "address" ? wanted.replace(/^0x0*/, "") : wanted;
  const known = new Map();
  for (let row = 0; row < values.length; row += 1) {
    const value = values[row];
    if (value === null) continue;
    let found = known.get(value);
    if (found === undefined) {
      found = formatValue(value, unit, size).toLowerCase().includes(digits);
      known.set(value, found);
    }
    if (found) hits[row] = 1;
  }
}

function markRange(hits, table, wanted) {
  const address = BigInt(`0x${wanted.replace(/^0x/, "")}`);
  const starts = table.column("address");
  const ends = table.column("end");
  for (let row = 0; row < hits.length; row += 1) {
    if (
      starts[row] !== null &&
      compareExact(starts[row], address) <= 0 &&
      compareExact(address, ends[row]) < 0
    ) {
      hits[row] = 1;
    }
  }
}
