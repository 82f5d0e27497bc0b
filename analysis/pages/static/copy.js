/* Text for the clipboard: one address, or a table as tab-separated values with exact numbers. */

const LINE_BREAKS = /[\t\r\n]+/g;
const STARTS_FORMULA = /^[=+\-@\t\r]/;

/** Write rows as tab-separated values. A column has `name`, `unit` and `value(row)`. */
function writeTsv(columns, rows) {
  const lines = [columns.map((column) => column.name).join("\t")];
  for (const row of rows)
    lines.push(columns.map((column) => writeCell(column.value(row), column.unit)).join("\t"));
  return lines.join("\n") + "\n";
}

/** Write a value exactly. Text that a spreadsheet takes for a formula gets an apostrophe, as in our CSV. */
function writeCell(value, unit) {
  if (value === null || value === undefined) return "";
  if (unit === "address") return `0x${BigInt(value).toString(16).padStart(16, "0")}`;
  if (unit !== "text") return String(value);
  const text = value.replace(LINE_BREAKS, " ");
  return STARTS_FORMULA.test(value) ? `'${text}` : text;
}

/** Put text on the clipboard, and say so. */
async function copyText(text, what) {
  const copied = (await writeClipboard(text)) || copyBySelection(text);
  announce(copied ? `Copied ${what}` : "The browser did not let me copy");
}

async function writeClipboard(text) {
  if (!navigator.clipboard) return false;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false; // not allowed here: the older way may be
    throw error;
  }
}

function copyBySelection(text) {
  const area = h("textarea", { value: text, class: "offscreen" });
  const before = document.activeElement;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  before?.focus();
  return copied;
}

/** Show a short message for a moment; it is also read out. */
function announce(message) {
  const place = document.getElementById("message");
  if (place === null) return;
  place.textContent = message;
  place.classList.add("seen");
  fadeMessage(place);
}

const fadeMessage = delay(2500, (place) => place.classList.remove("seen"));
