/* A table of the page with what every list has: a text to find, an order, a copy of it all. */

/** Put a list into a host. `options`: label, main (names of the columns to show unless all are asked for), onSelect(row),
    fill (functions that draw cells, by name). Returns { update() }, to be called when units or columns are chosen. */
function mountList(host, app, table, options) {
  const every = table.columns.map((column) => describeColumn(app, table, column, options));
  const list = { rows: [], sort: null, find: "" };
  const count = h("span", { class: "count" });
  const input = makeFind(`Find in ${options.label}`, (text) => refresh({ find: text.toLowerCase() }));
  const copy = () => copyText(writeTsv(every.map(toRaw), list.rows), formatMany(list.rows.length, "row"));
  host.append(
    h(
      "div",
      { class: "tools" },
      input,
      count,
      makeButton("Copy table", "Copy as tab-separated values", copy),
    ),
  );
  const grid = new Grid(host, options.label, {
    onSort: (name) =>
      refresh({ sort: turnSort(list.sort, name, every.find((each) => each.name === name).unit) }),
    onSelect: (row) => options.onSelect?.(list.rows[row]),
  });
  function refresh(changes) {
    Object.assign(list, changes);
    list.rows = chooseRows(table, list, grid.unit);
    grid.highlight = list.find;
    grid.selected = -1;
    count.textContent = countRows(list.rows.length, table.rows);
    const shown = chooseColumns(app, table, every, options).map((column) => ({
      ...column,
      value: (row) => column.value(list.rows[row]),
    }));
    grid.show({ count: list.rows.length }, shown.map(withFill), list.sort);
  }
  function withFill(column) {
    const fill = column.fill;
    return fill
      ? { ...column, fill: (cell, row, value, wanted) => fill(cell, list.rows[row], value, wanted) }
      : column;
  }
  function update() {
    grid.unit = app.state.get("unit") ?? "auto";
    refresh({});
  }
  update();
  return { update };
}

/** Make a field to find a text with. */
function makeFind(label, call) {
  const later = delay(120, () => call(input.value.trim()));
  const input = h("input", {
    type: "search",
    placeholder: "Find",
    "aria-label": label,
    on: { input: later },
  });
  return input;
}

function chooseColumns(app, table, every, { main }) {
  const told = every.filter(({ name }) => !table.isEmpty(name));
  if (main === undefined) return told;
  const known = main.map((name) => told.find((column) => column.name === name)).filter(Boolean);
  if (!app.state.get("all"))
    return known.filter(({ name }, place) => place === known.length - 1 || !table.isBlank(name));
  const rest = told.filter((column) => !known.includes(column));
  return [...known.slice(0, -1), ...rest, ...known.slice(-1)];
}

function describeColumn(app, table, column, { fill = {} }) {
  const values = table.column(column.name);
  return {
    ...column,
    unit: chooseUnit(column),
    meaning: app.define(table.name, column.name),
    value: (row) => values[row],
    fill: fill[column.name] ?? (column.name.startsWith("type") ? fillType : undefined),
    extra: EXTRA_WIDTHS[column.name] ?? 0,
  };
}

/** Characters that a mark takes beside the text of a column. */
const EXTRA_WIDTHS = { type: 3.5, type_a: 3.5, type_b: 3.5, word: 4 };

/** Numbers that name a thing are not grouped by thousands. */
const PLAIN_NUMBERS = new Set(["pid", "ppid", "tid", "uid", "timestamp", "machine", "elf_class"]);

function chooseUnit({ name, unit }) {
  if (PLAIN_NUMBERS.has(name.replace(/_[ab]$/, ""))) return "plain";
  return unit === "bytes" && name.endsWith("_delta") ? "delta" : unit;
}

function toRaw(column) {
  return { ...column, unit: column.unit === "plain" ? "count" : column.unit };
}

function chooseRows(table, { find, sort }, unit) {
  const rows = Array.from({ length: table.rows }, (_, row) => row);
  const hits = find ? findRows(table, find, unit) : null;
  const shown = hits === null ? rows : rows.filter((row) => hits[row] === 1);
  const by = table.columns.find(({ name }) => name === sort?.replace(/^-/, ""));
  return by ? shown.sort(compareBy(table.column(by.name), by.unit, sort.startsWith("-"))) : shown;
}

function countRows(shown, all) {
  const rows = formatMany(all, "row");
  return shown === all ? rows : `${formatCount(shown)} of ${rows}`;
}

/** Draw a type: its mark and its name. */
function fillType(cell, row, value, wanted) {
  const name = h("span", {});
  fillMarked(name, value ?? "", wanted);
  cell.replaceChildren(...(value ? [makeMark(value), " "] : []), name);
}
