/* Whether there is room for a request of a size that a reader types: what `mmp free --fits` answers, from the
   steps of the page. */

const FIRST_REQUEST = "200 MiB";
const REQUEST = /^(?:(0x[0-9a-f]+)|([0-9]+)(?:\.([0-9]+))? *([kmgt]?)(?:i?b|bytes?)?)$/i;
const SHIFTS = { "": 0n, k: 10n, m: 20n, g: 30n, t: 40n };
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
function makeOutcome(outcome) {
  const kind = `outcome ${outcome.replaceAll(" ", "-")}`;
  return h("span", { class: kind }, `${OUTCOME_MARKS[outcome] ?? ""} ${outcome}`);
}

/** Put the question into the line of the head that tells of room; `load(lists)` answers it for a snapshot. */
function mountRoom(host, app) {
  const told = host.querySelector(".told");
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
      told.textContent = lists === null ? "this page keeps only the totals of this snapshot" : lists.says_room;
      update();
    },
  };
}

function answerRequest(app, lists, text) {
  if (!lists?.room) return [];
  const size = parseSize(text);
  if (size === null || size === 0n) return [h("span", { class: "muted" }, "write a size as in 64K, 200M or 1.5 GiB")];
  const row = findStep(lists.room, size, app.snapshot().page_size);
  if (row === null) return [h("span", { class: "muted" }, "more than 8 EiB cannot be asked for")];
  const fits = row.outcome === "fits";
  const left = row.available === null ? "" : ` ${fits ? "would take" : "leaves"} ${formatBytes(row.available)}`;
  const why = fits ? "" : h("small", {}, ` (${row.reason})`);
  return [makeOutcome(row.outcome), h("span", { title: row.reason ?? "" }, `${fits ? " nearest: " : ": "}${row.check}${left}`), why];
}
