/* Starts the page: first what everyone looks at, then, once that is painted, the rest.

   A view is mounted once and listens to the choices that it depends on; views of lists have load(lists). */

const TOO_OLD = "This browser is too old for the views of this page; the main tables follow.";

await startPage();

async function startPage() {
  if (typeof DecompressionStream === "undefined") {
    document.querySelector("main").prepend(h("p", { class: "note" }, TOO_OLD));
    return;
  }
  const page = await readPage();
  const app = makeApp(page);
  document.documentElement.classList.add("js");
  document.body.append(h("p", { id: "message", role: "status" }));
  hideMissing();
  mountHead(findHost("head"), app);
  mountSummary(findHost("summary"), app);
  const room = mountRoom(document.getElementById("room"), app);
  const views = [room, new RegionsView(findHost("regions"), app), mountLimits(findHost("limits"), app)];
  mountBar(app);
  await loadLists(app, views);
  await nextPaint();
  mountRest(app, views);
  listenKeys(app);
  goToSection(app);
  document.documentElement.dataset.ready = String(page.snapshots.length);
}

function makeApp(page) {
  const state = new State();
  const unknown = dropUnknown(state, page);
  const lists = new Map();
  return {
    page,
    state,
    /** Sentences about what the link asks for and the page does not have. */
    unknown,
    /** Return the snapshot that is shown. */
    snapshot: () => page.snapshots[state.get("snapshot") ?? page.shown] ?? page.snapshots[page.shown],
    /** Return a promise of the lists of a snapshot by its id; null where the page keeps none. */
    lists: (id) => {
      if (!lists.has(id)) lists.set(id, readLists(id));
      return lists.get(id);
    },
    /** Promises of the comparisons that were asked for, by pair. */
    diffs: new Map(),
    /** Return the meaning of a column. */
    define: (table, column) => defineColumn(page.definitions, table, column),
  };
}

/** Take back choices of the link that nothing on the page stands for; say so. */
function dropUnknown(state, page) {
  const [type, unit] = [state.get("type"), state.get("unit")];
  const wrong = {};
  if (type !== null && !page.types.includes(type)) wrong.type = type;
  if (unit !== null && !UNIT_CHOICES.some(([name]) => name === unit)) wrong.unit = unit;
  const said = Object.entries(wrong).map(([kind, name]) => `no ${kind} is called ${clipText(name)}`);
  if (said.length === 0) return [];
  state.set(Object.fromEntries(Object.keys(wrong).map((kind) => [kind, null])));
  return [`The link asks for what this page does not have: ${said.join(", ")}. That part of it is ignored.`];
}

function defineColumn(definitions, table, column) {
  const plain = column.replace(/_(a|b|delta)$/, "");
  const places = [definitions[table], definitions.regions, definitions.allocations, definitions.summary];
  for (const place of places) if (place?.[column] ?? place?.[plain]) return place[column] ?? place[plain];
  return "";
}

/** Hide the sections whose view is not part of this page. */
function hideMissing() {
  if (findHost("map") && typeof mountMap !== "function") findHost("map").parentElement.hidden = true;
  if (findHost("timeline") && typeof mountTimeline !== "function")
    findHost("timeline").parentElement.hidden = true;
}

function findHost(name) {
  return document.querySelector(`[data-view="${name}"]`);
}

/** Load the lists of the snapshot that is shown into views, now and whenever another is chosen. */
async function loadLists(app, views) {
  async function load() {
    const { id } = app.snapshot();
    const lists = await app.lists(id);
    if (app.snapshot().id === id) for (const view of views) view.load(lists);
  }
  app.state.subscribe(["snapshot"], load);
  await load();
}

function nextPaint() {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

async function mountRest(app, views) {
  const lists = await app.lists(app.snapshot().id);
  if (findHost("map") && typeof mountMap === "function") mountMap(findHost("map"), app);
  const isDrawn = findHost("timeline") && typeof mountTimeline === "function";
  const timeline = isDrawn ? mountTimeline(findHost("timeline"), app) : null;
  if (findHost("roles")) mountRoles(findHost("roles"), app);
  if (findHost("diff")) {
    mountDiff(findHost("diff"), app);
    mountMapPair(findHost("diff"), app);
  }
  for (const list of LISTS) {
    const view = mountSnapshotList(findHost(list.name), app, list);
    view.load(lists);
    views.push(view);
  }
  const paper = new PaperView(app, timeline);
  paper.load(lists);
  views.push(paper);
  mountDefinitions(findHost("definitions"), app);
}

function listenKeys(app) {
  addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea") !== null;
    if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape")) return;
    if (event.key === "/") document.getElementById("find").focus();
    else if (event.key === "Escape") app.state.set({ type: null, find: null });
    else if (event.key === "[" || event.key === "]") stepSnapshot(app, event.key === "]" ? 1 : -1);
    else return;
    event.preventDefault();
  });
}

function stepSnapshot(app, by) {
  const next = app.snapshot().id + by;
  if (next >= 0 && next < app.page.snapshots.length) chooseSnapshot(app, next);
}

function goToSection(app) {
  const section = app.state.get("at") === null ? null : document.getElementById(app.state.get("at"));
  section?.scrollIntoView();
}
