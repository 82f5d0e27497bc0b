/* A colour and a letter for each type of memory: near VMMap's hues, of the palette that Okabe and Ito chose for
   all kinds of colour vision (jfly.uni-koeln.de/color, 2008). The letters are those of `mmp summary`. */

const TYPE_MARKS = {
  Image: { letter: "I", name: "image" },
  "Mapped File": { letter: "F", name: "mapped" },
  Shareable: { letter: "S", name: "shareable" },
  Heap: { letter: "H", name: "heap" },
  "Managed Heap": { letter: "M", name: "managed" },
  Stack: { letter: "K", name: "stack" },
  "Private Data": { letter: "P", name: "private" },
  "Page Table": { letter: "T", name: "table" },
  Unusable: { letter: "U", name: "unusable" },
  Free: { letter: "–", name: "free" },
};

/** Return the class that gives an element the colour of a type (--type and --type-ink). */
function typeClass(type) {
  return `t-${TYPE_MARKS[type]?.name ?? "other"}`;
}

/** Make the small square of a type: its colour and its letter. The name stands beside it, so it is hidden. */
function makeMark(type) {
  return h(
    "span",
    { class: `mark ${typeClass(type)}`, "aria-hidden": "true" },
    TYPE_MARKS[type]?.letter ?? "",
  );
}

/** Return the colour of a type in the theme of now, for a canvas. */
function typeColor(type) {
  return readToken(`--t-${TYPE_MARKS[type]?.name ?? "other"}`);
}

/** Return the colour of text on the colour of a type. */
function typeInk(type) {
  return readToken(`--i-${TYPE_MARKS[type]?.name ?? "other"}`);
}

/** Return a colour of the theme of now by its name, as in --ink. */
function readToken(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
