/* Elements made of plain values. Text always becomes a text node: nothing that a snapshot says is ever markup. */

/** Make an element. Of its properties `class`, `data`, `style` (an object), `on` (listeners), `role`, `for` and
    `aria-*` are what they are called; any other is a property of the element. Children that are null or false
    are left out. */
function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) setProperty(element, name, value);
  element.append(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

function setProperty(element, name, value) {
  if (name === "class") element.className = value;
  else if (name === "data") Object.assign(element.dataset, value);
  else if (name === "style")
    for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
  else if (name === "on")
    for (const [type, listener] of Object.entries(value)) element.addEventListener(type, listener);
  else if (name === "role" || name === "for" || name.startsWith("aria-")) element.setAttribute(name, value);
  else element[name] = value;
}

/** Make a push button. */
function makeButton(text, title, click, properties = {}) {
  return h("button", { type: "button", title, on: { click }, ...properties }, text);
}

/** Make a checkbox with its label. */
function makeCheck(text, title, change) {
  const box = h("input", { type: "checkbox", on: { change: () => change(box.checked) } });
  const label = h("label", { class: "check", title }, box, ` ${text}`);
  return { label, box };
}

/** Call a function once a while has passed without another call. */
function delay(milliseconds, call) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), milliseconds);
  };
}

/** Fill an element with text in which each place that holds `wanted` (lower case) is marked. */
function fillMarked(element, text, wanted) {
  const at = wanted ? text.toLowerCase().indexOf(wanted) : -1;
  if (at < 0) {
    element.textContent = text;
    return;
  }
  const end = at + wanted.length;
  element.replaceChildren(text.slice(0, at), h("mark", {}, text.slice(at, end)), text.slice(end));
}
