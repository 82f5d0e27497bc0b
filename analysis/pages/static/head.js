/* What the page is about: process, machine, moment, what is not known; and the bar with what a reader chooses. */

const THEMES = ["auto", "light", "dark"];
const UNIT_CHOICES = [
  ["auto", "Units: auto"],
  ["KiB", "Units: KiB"],
  ["bytes", "Units: bytes"],
];

/** Show the head of the snapshot that is chosen. */
function mountHead(host, app) {
  const title = document.querySelector("h1");
  const stands = document.querySelector("#head > .says");
  const shown = document.querySelector("#shown dd");
  function update() {
    const snapshot = app.snapshot();
    const { head, label } = snapshot;
    title.textContent = `${nameProcess(snapshot)}${head.host ? ` on ${head.host}` : ""}`;
    stands.textContent = chooseSentence(app, snapshot);
    if (shown !== null) shown.textContent = tellShown(app, snapshot);
    const about = [head.time, label, head.os, `from ${head.source}`].filter(Boolean).join(" · ");
    const facts = head.facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)));
    const notes = [...app.unknown, ...app.page.notes, ...app.page.folded, ...head.notes].map((note) =>
      h("p", { class: "note" }, note),
    );
    host.replaceChildren(
      h("p", { class: "about" }, about),
      ...notes,
      h("details", {}, h("summary", {}, "More about this process"), h("dl", { class: "facts" }, facts)),
      ...listMissing(head.missing),
    );
  }
  update();
  app.state.subscribe(["snapshot"], update);
  mountChanged(document.getElementById("changed"), app);
}

/** Choose the sentence on top: what is about all processes stays, whichever is shown. */
function chooseSentence({ page }, snapshot) {
  if (snapshot.id === page.shown || page.near !== null || page.roles !== null) return page.says;
  return page.rooms.length > 0 ? `${nameProcess(snapshot)}: ${snapshot.says}` : snapshot.says;
}

function tellShown({ page }, snapshot) {
  const place = `snapshot ${snapshot.id + 1} of ${formatCount(page.snapshots.length)}`;
  return `${nameProcess(snapshot)}, ${place}, one of ${formatCount(page.rooms.length)} processes: ${snapshot.says}`;
}

/** Tell in the head what changed between the two that are compared. */
function mountChanged(host, app) {
  if (host === null) return;
  const told = host.querySelector(".told");
  const link = makeLink(app, "diff", "See what changed");
  host.querySelector("dd").append(" ", link);
  let last = null;
  async function update() {
    const pair = choosePair(app);
    last = String(pair);
    const diff = pair === null ? null : await findDiff(app, pair);
    if (last !== String(pair)) return;
    told.textContent = diff === null ? tellAlone(app) : tellChanged(app, diff);
    link.hidden = diff === null;
  }
  app.state.subscribe(["snapshot", "diff"], update);
  update();
}

function tellChanged(app, { a, b, changed, moved }) {
  return `${tellEnds(app, a, b)}${changed}${moved ? `; most: ${moved}` : ""}`;
}

/** Name both processes where they are two: nothing grew from one to the other. */
function tellEnds(app, a, b) {
  const { snapshots } = app.page;
  const [before, after] = [nameProcess(snapshots[a]), nameProcess(snapshots[b])];
  if (before !== after) return `${before} in ${a + 1} against ${after} in ${b + 1}: `;
  return `${tellWhose(app, snapshots[b])}${snapshots.length > 2 ? `from ${a + 1} to ${b + 1}: ` : ""}`;
}

function listMissing(missing) {
  if (missing.length === 0) return [];
  const rows = missing.map(({ item, state, reason }) => {
    const why = reason ? `: ${reason}` : "";
    return h("li", {}, h("b", {}, item), ` is ${state}${why}`);
  });
  const text = `${missing.length} ${missing.length === 1 ? "fact is" : "facts are"} not known`;
  return [h("details", {}, h("summary", {}, text), h("ul", {}, rows))];
}

/** Put the bar below the head: sections, the snapshot, the filter, units, theme. */
function mountBar(app) {
  const links = h(
    "div",
    { class: "links" },
    listSections().map(([id, text]) => makeLink(app, id, text)),
  );
  watchEdges(links);
  const chip = makeButton("", "Show all types", () => app.state.set({ type: null }), { class: "chip" });
  const unit = makeSelect("Units", UNIT_CHOICES, (value) =>
    app.state.set({ unit: value === "auto" ? null : value }),
  );
  const picker = makePicker(app);
  const choices = h("div", { class: "choices" }, chip, picker?.element, unit, makeThemeButton());
  const bar = h("nav", { id: "bar", "aria-label": "Page" }, links, choices);
  document.getElementById("head").after(bar);
  function update() {
    const type = app.state.get("type");
    chip.hidden = type === null;
    chip.replaceChildren(makeMark(type), ` ${type} ✕`);
    chip.setAttribute("aria-label", `Filtered by ${type ?? "nothing"}: show all types`);
    unit.value = app.state.get("unit") ?? "auto";
    picker?.update();
  }
  update();
  app.state.subscribe(["type", "unit", "snapshot"], update);
}

function listSections() {
  const sections = [...document.querySelectorAll("main > section")].filter((section) => !section.hidden);
  return sections.map((section) => [section.id, section.querySelector("h2").textContent]);
}

function makeLink(app, id, text) {
  return h("a", { href: `#at=${id}`, on: { click: (event) => followLink(event, app, id) } }, text);
}

/** Go to a section, which the address tells from then on. */
function followLink(event, app, id) {
  event.preventDefault();
  app.state.set({ at: id });
  document.getElementById(id).scrollIntoView();
}

function makeSelect(label, choices, call) {
  const options = choices.map(([value, text]) => h("option", { value }, text));
  const select = h("select", { "aria-label": label, on: { change: () => call(select.value) } }, options);
  return select;
}

function makePicker(app) {
  const { snapshots } = app.page;
  if (snapshots.length < 2) return null;
  const choices = listMoments(app).map((text, id) => [String(id), text.replace(":", ` of ${snapshots.length}:`)]);
  const select = makeSelect("Snapshot", choices, (value) => chooseSnapshot(app, Number(value)));
  const step = (by) =>
    chooseSnapshot(app, Math.min(snapshots.length - 1, Math.max(0, app.snapshot().id + by)));
  const before = makeButton("‹", "Snapshot before ( [ )", () => step(-1));
  const after = makeButton("›", "Snapshot after ( ] )", () => step(1));
  const element = h("span", { class: "picker" }, before, select, after);
  return { element, update: () => (select.value = String(app.snapshot().id)) };
}

/** Write for each snapshot its number and when it was taken, and of which process where there are several. */
function listMoments({ page }) {
  const names = page.snapshots.map(({ head }) => `${clipText(head.process ?? "unknown process")}${head.pid === null ? "" : ` (${head.pid})`}`);
  const isOne = new Set(names).size === 1;
  const whose = ({ id, label }) => (isOne ? "" : `${names[id]}, ${clipText(takeLastPart(label))}, `);
  const times = listTimes(page);
  return page.snapshots.map((each) => `${each.id + 1}: ${whose(each)}${shortenTime(times[each.id])}`);
}

/** Write when each snapshot was taken, exactly where two of a process are less than a second apart. */
function listTimes({ snapshots }) {
  const isAlike = new Set(snapshots.map((each) => nameProcess(each) + each.head.time)).size < snapshots.length;
  return snapshots.map(({ head }) => (isAlike && head.time_ns !== null ? formatMoment(head.time_ns) : head.time));
}

/** Shorten a time for a list of choices: all of them are UTC. */
function shortenTime(time) {
  return time.replace(/ UTC$/, "");
}

function makeThemeButton() {
  const root = document.documentElement;
  const button = makeButton("", "Change between the colours of the system, light and dark", turn, {
    class: "theme",
  });
  function turn() {
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "auto") + 1) % THEMES.length];
    root.dataset.theme = next;
    show();
    window.dispatchEvent(new Event("themechange"));
  }
  function show() {
    const theme = root.dataset.theme ?? "auto";
    button.textContent = { auto: "◐ auto", light: "○ light", dark: "● dark" }[theme];
  }
  show();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    window.dispatchEvent(new Event("themechange")),
  );
  return button;
}
