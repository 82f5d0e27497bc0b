/* Orders of rows: exact numbers, text as a person counts, what is unknown last, the order before where equal. */

const COLLATOR = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Return the function that compares two rows by a list of values; `falling` turns it round, but not nulls. */
function compareBy(values, unit, falling) {
  const keys = unit === "text" ? rankTexts(values) : values;
  const sign = falling ? -1 : 1;
  return (a, b) => {
    const left = keys[a] ?? null;
    const right = keys[b] ?? null;
    if (left === null || right === null) return (left === null) - (right === null);
    return sign * compareExact(left, right);
  };
}

function rankTexts(values) {
  const texts = [...new Set(values)].filter((text) => text !== null && text !== undefined);
  texts.sort((a, b) => COLLATOR.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0));
  const ranks = new Map(texts.map((text, rank) => [text, rank]));
  return values.map((text) => ranks.get(text) ?? null);
}

/** Return the next order when a column's head is pressed: numbers fall first, text rises first, then none. */
function turnSort(sort, name, unit) {
  const orders = isNumeric(unit) && unit !== "address" ? [`-${name}`, name] : [name, `-${name}`];
  const place = orders.indexOf(sort);
  return place < 0 ? orders[0] : (orders[place + 1] ?? null);
}
