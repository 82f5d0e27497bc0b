/* What changed between two snapshots in one sentence: the same rules as analysis/pages/changes.py. */

const CHANGE_FIGURES = [
  ["private", "private"],
  ["committed", "committed"],
  ["total_ws", "working set"],
  ["reserved", "reserved"],
];
const NO_PART = new Set(["Total", "Unusable", "Free"]);
const UNKNOWN_CHANGE = "how it changed is not known";

/** Say how the figures changed, and which types most of it is of; `types` is the table of a comparison. */
function tellChanges(types) {
  const rows = Array.from({ length: types.rows }, (_, at) => types.row(at));
  const total = rows.find(({ type }) => type === "Total");
  if (!total || CHANGE_FIGURES.every(([name]) => findChange(total, name) === null)) return UNKNOWN_CHANGE;
  const parts = rows.filter(({ type }) => !NO_PART.has(type));
  const whole = Math.max(...["committed", "total_ws"].map((name) => Math.abs(Number(findChange(total, name) ?? 0))));
  const told = CHANGE_FIGURES.map(([name, words]) => tellFigure(name, words, total, parts, whole));
  return told.filter(Boolean).join(", ") || "nothing that it counts changed";
}

/** Tell how one figure changed; null where it does not matter. Of committed memory, the types are those of which
    more than the private part moved. */
function tellFigure(name, words, total, all, whole) {
  const change = findChange(total, name);
  const isMore = (row) => findChange(row, name) !== findChange(row, "private");
  const parts = name === "committed" ? all.filter(isMore) : all;
  if (change === null || (name === "committed" && parts.length === 0 && !isMore(total))) return null;
  const moved = parts.map((row) => [row.type, findChange(row, name)]).filter(([, found]) => matters(found, whole));
  if (moved.length === 0 && !matters(change, whole)) return null;
  moved.sort(([, a], [, b]) => Math.abs(Number(b)) - Math.abs(Number(a)));
  const listed = moved.map(([type, found]) => `${type} ${signSize(found)}`).join(", ");
  const said = `${words} ${Number(change) === 0 ? "the same" : signSize(change)}`;
  return listed ? `${said} (${listed})` : said;
}

function findChange(row, name) {
  if (name !== "reserved") return row[`${name}_delta`] ?? null;
  return subtractExact(row.size_delta ?? null, row.committed_delta ?? null);
}

function matters(change, whole) {
  const size = Math.abs(Number(change ?? 0));
  return size > 0 && (size * 10 >= whole || (size >= 2 ** 20 && size * 20 >= whole));
}

function signSize(change) {
  return formatChange(change, (value) => formatBytes(value).replace(".0 ", " "));
}
