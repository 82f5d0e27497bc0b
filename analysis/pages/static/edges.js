/* What is wider than the window scrolls sideways, and shows it: an edge behind which there is more fades out, and
   below a table that goes on to the right it says so (theme.css, data-more). */

const EDGE_SLACK = 2; // pixels that rounding may take

/** Make a box that scrolls sideways, for a table. */
function makeScroll(label, ...children) {
  const box = h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": label }, children);
  watchEdges(box);
  return box;
}

/** Mark an element with the sides to which it can be scrolled, whatever is put into it from now on. */
function watchEdges(element) {
  const update = () => markEdges(element);
  const sizes = new ResizeObserver(update);
  const observe = () => {
    sizes.disconnect();
    for (const each of [element, ...element.children]) sizes.observe(each);
  };
  new MutationObserver(observe).observe(element, { childList: true });
  element.addEventListener("scroll", update, { passive: true });
  observe();
}

function markEdges(element) {
  const left = element.scrollLeft > EDGE_SLACK;
  const right = element.scrollLeft + element.clientWidth < element.scrollWidth - EDGE_SLACK;
  const more = [left && "left", right && "right"].filter(Boolean).join(" ");
  if ((element.dataset.more ?? "") !== more) element.dataset.more = more;
}
