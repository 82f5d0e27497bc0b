/* Everything that is known of one allocation, region or hole, with exact numbers. */

const CARD_WORDS = ["Allocation", "Region", "Hole"];
const CARD_HEAD = new Set(["type", "address", "size", "end", "details", "parent", "first"]);

/** Fill the card of a node of the tree. */
function fillCard(card, app, tree, node, copy) {
  const value = (name) => tree.value(node, name) ?? null;
  const type = value("type");
  const range = `${formatAddress(value("address"))} – ${formatAddress(value("end"))}`;
  const title = h(
    "h3",
    {},
    makeMark(type),
    ` ${CARD_WORDS[tree.kind(node)]}, ${type} `,
    h("span", { class: "address" }, range),
    ` ${formatBytes(value("size"))}`,
  );
  const buttons = [
    makeButton("Copy address", "Copy its first address (c)", copy),
    makeButton("Only this type", "Filter the page by this type", () => app.state.set({ type })),
  ];
  const details = value("details");
  card.replaceChildren(
    title,
    details === null ? "" : h("p", { class: "path", tabIndex: 0 }, details),
    h("dl", { class: "facts" }, listFacts(app, tree, node)),
    h("div", { class: "tools" }, buttons),
  );
  card.hidden = false;
}

function listFacts(app, tree, node) {
  const table = tree.table(node);
  const facts = [["size", tree.value(node, "size"), "bytes", "Size"]];
  for (const { name, unit, title } of table.columns) {
    if (!CARD_HEAD.has(name)) facts.push([name, tree.value(node, name), unit, title]);
  }
  return facts
    .filter(([, value]) => value !== null)
    .map(([name, value, unit, title]) =>
      h(
        "div",
        { title: app.define(table.name, name) },
        h("dt", {}, title),
        h("dd", {}, makeAmount(value, unit)),
      ),
    );
}

/** Make an amount with its exact bytes beside it. */
function makeAmount(value, unit) {
  const shown = formatValue(value, unit);
  if (unit !== "bytes" || BigInt(value) === 0n) return [shown];
  return [shown, h("small", {}, ` ${formatExact(value)}`)];
}
