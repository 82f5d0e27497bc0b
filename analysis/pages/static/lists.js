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
