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

/** The columns that answer come first: on a narrow screen the others are a scroll away. */
const ROLE_COLUMNS = [
  "name",
  "pss_delta",
  "private_delta",
  "word",
  "pid_b",
  "pid_a",
  "instances_a",
  "instances_b",
  "pss_a",
  "pss_b",
  "uss_delta",
  "match",
  "command",
];

/** Find a process of a role that several have: the largest of its name, by private memory. */
function findOfRole({ rooms, snapshots, pairs }, rows, row) {
  const isOther = (id) => !pairs.some((pair) => pair.includes(id));
  const named = rooms.filter(({ snapshot }) => isOther(snapshot) && snapshots[snapshot].head.process === rows.column("name")[row]);
  const found = named.map(({ snapshot }) => snapshots[snapshot]).sort((a, b) => Number(b.totals.private ?? 0) - Number(a.totals.private ?? 0));
  if (found.length > 1) announce(`One of ${formatCount(found.length)} processes of this role: ${nameProcess(found[0])}`);
  return found[0];
}

/** Show how the processes of two captures changed, role by role; a row with a snapshot on this page shows it. */
function mountRoles(host, app) {
  const { says, sides, rows } = app.page.roles;
  host.append(h("p", { class: "says" }, says), h("p", { class: "about" }, `From ${sides[0]} to ${sides[1]}`));
  const fill = { word: fillWord };
  for (const column of rows.columns) if (/_[ab]$/.test(column.name)) fill[column.name] = fillSide(column);
  const onSelect = (row) => {
    const label = rows.column("snapshot_b")[row] ?? rows.column("snapshot_a")[row];
    const found = app.page.snapshots.find((snapshot) => snapshot.label === label) ?? findOfRole(app.page, rows, row);
    if (found) chooseSnapshot(app, found.id);
  };
  const list = mountList(host, app, rows, { label: "Processes by role", main: ROLE_COLUMNS, fill, onSelect });
  app.state.subscribe(["unit", "all"], () => list.update());
}
