/* Threads, modules, heaps and processes of a snapshot, each a list; a row with an address selects its region. */

const LISTS = [
  {
    name: "threads",
    label: "Threads",
    address: "stack",
    main: [
      "tid",
      "state",
      "stack",
      "size",
      "committed",
      "private",
      "total_ws",
      "private_ws",
      "swap",
      "sp",
      "name",
    ],
  },
  {
    name: "modules",
    label: "Modules",
    address: "address",
    main: [
      "address",
      "size",
      "committed",
      "private",
      "total_ws",
      "private_ws",
      "shareable_ws",
      "pss",
      "blocks",
      "version",
      "path",
    ],
  },
  {
    name: "heaps",
    label: "Heaps",
    address: "address",
    main: [
      "address",
      "type",
      "size",
      "committed",
      "private",
      "total_ws",
      "private_ws",
      "swap",
      "lazyfree",
      "blocks",
      "confidence",
      "name",
    ],
  },
  {
    name: "processes",
    label: "Processes",
    address: null,
    main: ["pid", "ppid", "user", "threads", "rss", "private", "elf_class", "name", "cmdline"],
  },
];

/** Show one list of the snapshots; `load(lists)` shows that of a snapshot. */
function mountSnapshotList(host, app, { name, label, address, main }) {
  let list = null;
  app.state.subscribe(["unit", "all"], () => list?.update());
  function load(lists) {
    host.replaceChildren();
    list = null;
    const table = lists?.[name] ?? null;
    if (table === null) {
      const why = lists === null ? "This page keeps only the totals of this snapshot." : lists.why[name];
      host.append(h("p", { class: "note" }, why ?? "Not known."));
    } else if (table.rows === 0) host.append(h("p", { class: "note" }, "There are none."));
    else {
      const onSelect = (row) => address && selectAddress(app, table.column(address)[row]);
      list = mountList(host, app, table, { label, main, onSelect });
    }
  }
  return { load };
}

const ROLE_COLUMNS = [
  "word",
  "name",
  "pid_a",
  "pid_b",
  "instances_a",
  "instances_b",
  "pss_a",
  "pss_b",
  "pss_delta",
  "uss_delta",
  "private_delta",
  "match",
  "command",
];

/** Show how the processes of two captures changed, role by role; a row with a snapshot on this page shows it. */
function mountRoles(host, app) {
  const { says, sides, rows } = app.page.roles;
  host.append(h("p", { class: "says" }, says), h("p", { class: "about" }, `From ${sides[0]} to ${sides[1]}`));
  const fill = { word: fillWord };
  for (const column of rows.columns) if (/_[ab]$/.test(column.name)) fill[column.name] = fillSide(column);
  const onSelect = (row) => {
    const label = rows.column("snapshot_b")[row] ?? rows.column("snapshot_a")[row];
    const found = app.page.snapshots.find((snapshot) => snapshot.label === label);
    if (found) app.state.set({ snapshot: found.id });
  };
  const list = mountList(host, app, rows, { label: "Processes by role", main: ROLE_COLUMNS, fill, onSelect });
  app.state.subscribe(["unit", "all"], () => list.update());
}
