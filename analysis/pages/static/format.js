/* Numbers as a person reads them, exact where it matters: the same rules as analysis/reporters/amounts.py. */

const UNKNOWN = "?";
const NOT_APPLICABLE = "–";
const AT_LEAST = "≥ ";
const BYTE_UNITS = [
  ["TiB", 2 ** 40],
  ["GiB", 2 ** 30],
  ["MiB", 2 ** 20],
  ["KiB", 2 ** 10],
];
const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const SIGNIFICANT = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });
const FRACTION_DIGITS = 3;

/** Write bytes in the unit that a reader chose: "auto" takes the largest that they reach. */
function formatBytes(value, unit = "auto") {
  if (value === null) return UNKNOWN;
  if (unit === "bytes") return formatCount(value);
  if (unit === "KiB") return formatKib(value);
  if (typeof value === "string") return formatLargeBytes(BigInt(value));
  const size = Math.abs(value);
  if (size === 0) return "0";
  const lead = value < 0 ? "−" : "";
  for (const [name, factor] of BYTE_UNITS) {
    if (size >= factor) return `${lead}${writeTenths(size, factor, name !== "KiB")} ${name}`;
  }
  return `${lead}${size} B`;
}

function writeTenths(size, factor, always) {
  const whole = Math.floor(size / factor);
  const tenth = Math.floor(((size - whole * factor) * 10) / factor);
  return GROUPED.format(whole) + (tenth || always ? `.${tenth}` : "");
}

function formatLargeBytes(value) {
  const size = value < 0n ? -value : value;
  const tenths = (size * 10n) >> 40n;
  return `${value < 0n ? "−" : ""}${GROUPED.format(tenths / 10n)}.${tenths % 10n} TiB`;
}

function formatKib(value) {
  const exact = BigInt(value);
  const size = exact < 0n ? -exact : exact;
  const rest = size % 1024n;
  const tenth = rest ? `.${rest * 10n >= 9216n ? 9n : (rest * 10n + 1023n) / 1024n}` : "";
  return `${exact < 0n ? "−" : ""}${GROUPED.format(size / 1024n)}${tenth}`;
}

/** Write a number of things. */
function formatCount(value) {
  if (value === null) return UNKNOWN;
  const text = GROUPED.format(typeof value === "string" ? BigInt(value) : value);
  return text.replace("-", "−");
}

/** Write how many there are of a thing, as in 1 row or 2 rows. */
function formatMany(count, thing) {
  return `${formatCount(count)} ${thing}${count === 1 ? "" : "s"}`;
}

/** Write bytes to the last one, for a hover. */
function formatExact(value) {
  return value === null ? "not known" : `${formatCount(value)} ${BigInt(value) === 1n ? "byte" : "bytes"}`;
}

/** Write an address as the kernel does: hex digits, no prefix. */
function formatAddress(value) {
  return value === null ? UNKNOWN : BigInt(value).toString(16);
}

/** Write a change with its sign; a change of nothing is 0. */
function formatChange(value, write) {
  if (value === null) return UNKNOWN;
  if (BigInt(value) === 0n) return "0";
  return (BigInt(value) > 0n ? "+" : "") + write(value);
}

/** Write a part of a whole in percent. */
function formatShare(part, whole) {
  if (part === null || !Number(whole)) return "";
  const share = (Number(part) / Number(whole)) * 100;
  return share > 0 && share < 0.1 ? "<0.1 %" : `${share.toFixed(1)} %`;
}

/** Write how much of a limit is used, cut to a tenth: 100 % is what is used up, and nothing less. */
function formatUsed(used, maximum) {
  const tenths = (BigInt(used) * 1000n) / BigInt(maximum);
  if (tenths === 0n) return formatShare(used, maximum);
  return `${tenths / 10n}.${tenths % 10n} %`;
}

/** Write a value of a column by its unit; `size` is the unit for bytes. */
function formatValue(value, unit, size = "auto") {
  if (value === null) return unit === "text" ? "" : UNKNOWN;
  if (unit === "bytes") return formatBytes(value, size);
  if (unit === "delta") return formatChange(value, (each) => formatBytes(each, size));
  if (unit === "address") return formatAddress(value);
  if (unit === "text") return value;
  if (unit === "bool") return value ? "yes" : "no";
  if (unit === "ns") return formatMoment(value);
  if (typeof value === "number" && !Number.isInteger(value)) return SIGNIFICANT.format(value);
  return unit === "plain" ? String(value) : formatCount(value);
}

/** Write what a hover tells of a value beyond what is shown: the exact bytes, the address with its prefix. */
function explainValue(value, unit) {
  if (value === null) return unit === "text" ? "" : "not known";
  if (unit === "bytes") return formatExact(value);
  if (unit === "delta") return formatChange(value, formatExact);
  if (unit === "address") return `0x${formatAddress(value)}`;
  return unit === "text" ? value : "";
}

/** Write nanoseconds since 1970 as a UTC time. */
function formatMoment(value) {
  if (value === null) return "unknown time";
  const milliseconds = Number(BigInt(value) / 1000000n);
  return new Date(milliseconds)
    .toISOString()
    .replace("T", " ")
    .slice(0, 20 + FRACTION_DIGITS)
    .concat(" UTC");
}

const WINDOWS_PATH = /^([A-Za-z]:|\\\\|\\(Device|SystemRoot|\?\?)\\)/;

/** Return the last part of a path. A backslash parts a path of Windows; elsewhere it begins an escape. */
function takeLastPart(path) {
  const parts = path.split(WINDOWS_PATH.test(path) ? /[/\\]/ : "/").filter(Boolean);
  return parts.at(-1) ?? path;
}

/** Tell whether a column of that unit holds numbers, which stand to the right. */
function isNumeric(unit) {
  return unit !== "text" && unit !== "bool";
}
