/* Whether there is room for a request of a size that a reader types: what `mmp free --fits` answers, from the
   steps of the page. */

const FIRST_REQUEST = "200 MiB";
const REQUEST = /^(?:(0x[0-9a-f]+)|([0-9]+)(?:\.([0-9]+))? *([kmgt]?)(?:i?b|bytes?)?)$/i;
const SHIFTS = { "": 0n, k: 10n, m: 20n, g: 30n, t: 40n };
const LARGEST_REQUEST = 1n << 63n;
const MOST_NAMED = 3;
const OUTCOME_MARKS = { fits: "✓", "does not fit": "✗", "cannot tell": "?" };

/** Read a size as `mmp` does, every unit binary: 200M, 64 KiB, 1.5G, 0x1000. Returns a BigInt, null for no size. */
function parseSize(text) {
  const found = REQUEST.exec(text.trim().replaceAll(",", ""));
  if (found === null) return null;
  const [, hex, whole, fraction = "", unit = ""] = found;
  if (hex !== undefined) return BigInt(hex);
  return (BigInt(whole + fraction) << SHIFTS[unit.toLowerCase()]) / 10n ** BigInt(fraction.length);
}

/** Return the row that answers a request, which is of whole pages; null where none can be asked for so large. */
function findStep(table, size, page) {
  const pages = ((size + BigInt(page) - 1n) / BigInt(page)) * BigInt(page);
  const at = table.column("upto").findIndex((upto) => BigInt(upto) >= pages);
  return at < 0 ? null : table.row(at);
}

/** Make the outcome of a request, with its mark. */
function makeOutcome(outcome, text = outcome) {
  const kind = `outcome ${outcome.replaceAll(" ", "-")}`;
  return h("span", { class: kind }, `${OUTCOME_MARKS[outcome] ?? ""} ${text}`);
}

/** Put the question into the line of the head that tells of room; `load(lists)` answers it for a snapshot. What the
    sentence on top says is not said again. */
function mountRoom(host, app) {
  host.hidden = false;
  const told = host.querySelector(".told");
  host.querySelector(".all")?.remove();
  const input = h("input", { type: "search", "aria-label": "Is there room for a request of", size: 9 });
  const answer = h("span", { role: "status", class: "answer" });
  const ask = h("label", {}, "Is there room for ", input);
  host.querySelector("dd").append(h("div", { class: "ask" }, ask, answer, makeLink(app, "limits", "All limits")));
  input.addEventListener("input", () => app.state.set({ room: input.value.trim() || null }));
  let lists = null;
  function update() {
    if (document.activeElement !== input) input.value = app.state.get("room") ?? FIRST_REQUEST;
    answer.replaceChildren(...answerRequest(app, lists, app.state.get("room") ?? FIRST_REQUEST));
  }
  app.state.subscribe(["room"], update);
  return {
    load: (loaded) => {
      lists = loaded;
      const snapshot = app.snapshot();
      const room = lists === null ? "this page keeps only the totals of this snapshot" : lists.says_room;
      const said = tellWhose(app, snapshot) + room;
      told.textContent = said === chooseSentence(app, snapshot) ? "" : said;
      update();
    },
  };
}

/** Answer a request, for all processes where there are several; the answer repeats what was understood. */
function answerRequest(app, lists, text) {
  const size = parseSize(text);
  const isEmpty = app.page.rooms.length === 0 && !lists?.room;
  if (isEmpty) return [];
  if (size === null || size === 0n) return [h("span", { class: "muted" }, "write a size as in 64K, 200M or 1.5 GiB")];
  if (size > LARGEST_REQUEST) return [h("span", { class: "muted" }, "more than 8 EiB cannot be asked for")];
  if (app.page.rooms.length > 0) return answerForAll(app.page, size);
  const row = findStep(lists.room, size, app.snapshot().page_size);
  const [verb, many] = size < 1024n ? ["fit", "do not fit"] : ["fits", "does not fit"];
  const said = row.outcome === "fits" ? verb : row.outcome === "does not fit" ? many : row.outcome;
  const outcome = makeOutcome(row.outcome, `${nameSize(size)} ${said}`);
  if (row.outcome === "fits") return [outcome]; // what stops a larger one stands in the line above
  return [outcome, h("span", { title: row.reason ?? "" }, explainOutcome(row, lists.says_room))];
}

/** Name a size that was typed: exact where a unit would round it. */
function nameSize(size) {
  return size < 1024n ? formatExact(Number(size)) : formatBytes(toPlain(size)).replace(".0 ", " ");
}

/** Say what decides an answer, and what that leaves; and why, unless the sentence on room says that. */
function explainOutcome(row, said) {
  return `: ${tellLeft(row)}${row.reason && !said.includes(row.reason) ? ` (${row.reason})` : ""}`;
}

/** Say in how many processes a request fits, each asked alone, and in which it does not, and why. */
function answerForAll({ rooms, snapshots }, size) {
  const groups = new Map();
  let fits = 0;
  for (const { snapshot, room } of rooms) {
    const row = room === null ? null : findStep(room, size, snapshots[snapshot].page_size);
    if (row?.outcome === "fits") {
      fits += 1;
      continue;
    }
    const key = `${row?.outcome === "does not fit" ? "not in" : "cannot tell for"}|${tellLeft(row)}`;
    groups.set(key, [...(groups.get(key) ?? []), nameProcess(snapshots[snapshot])]);
  }
  const count = formatCount(rooms.length);
  const many = fits === rooms.length ? `all ${count}` : fits ? `${formatCount(fits)} of ${count}` : `none of ${count}`;
  const keys = [...groups.keys()].sort((a, b) => b.startsWith("not in") - a.startsWith("not in"));
  const told = keys.map((key) => {
    const [lead, why] = key.split("|");
    return `; ${lead} ${nameSome(groups.get(key))}: ${why}`;
  });
  const outcome = keys.length === 0 ? "fits" : keys[0].startsWith("not in") ? "does not fit" : "cannot tell";
  const verb = size < 1024n ? "fit" : "fits";
  return [makeOutcome(outcome, `${nameSize(size)} ${verb} in ${many} processes`), h("span", {}, told.join(""))];
}

function tellLeft(row) {
  if (row === null) return "its regions are not known";
  return `${row.check}${row.available === null ? "" : `, which allows ${formatBytes(row.available).replace(".0 ", " ")}`}`;
}

function nameSome(names) {
  const more = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(", ")}${more > 0 ? ` and ${formatCount(more)} more` : ""}`;
}
