/* What each column means, by table: the text of docs/metrics.md. */

/** Show the definitions of every table that the page has. */
function mountDefinitions(host, app) {
  const intro =
    "The meaning of every column, as in docs/metrics.md. It also shows when you point at the head of a column.";
  host.append(h("p", { class: "muted" }, intro));
  for (const [table, columns] of Object.entries(app.page.definitions)) {
    const place = h("dl", { class: "definitions" });
    const more = h("details", {}, h("summary", {}, table.replace("-", ": ")), place);
    more.addEventListener("toggle", () => fillDefinitions(place, columns), { once: true });
    host.append(more);
  }
}

function fillDefinitions(place, columns) {
  place.append(
    ...Object.entries(columns).flatMap(([name, text]) => [
      h("dt", {}, h("code", {}, name)),
      h("dd", {}, text),
    ]),
  );
}
