/* What a reader has chosen. It is all in the fragment of the address, so that a link shows the same. */

const STATE_KEYS = {
  snapshot: { short: "s", read: readNumber, write: writeNumber },
  type: { short: "type", read: readText, write: String },
  find: { short: "find", read: readText, write: String },
  sel: { short: "sel", read: readHex, write: (value) => value.toString(16) },
  sort: { short: "sort", read: readText, write: String },
  free: { short: "free", read: readFlag, write: () => "1" },
  all: { short: "all", read: readFlag, write: () => "1" },
  unit: { short: "unit", read: readText, write: String },
  diff: { short: "diff", read: readPair, write: (value) => value.map(writeNumber).join("-") },
  list: { short: "list", read: readText, write: String },
  map: { short: "map", read: readText, write: String },
  time: { short: "time", read: readText, write: String },
  room: { short: "room", read: readText, write: String },
  at: { short: "at", read: readText, write: String },
};
const LONGEST_CHOICE = 1000;
const WRITE_AFTER_MS = 150;

/** Read the number of a snapshot as the page writes it, from 1 on; its id counts from 0. */
function readNumber(text) {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) - 1 : null;
}

function writeNumber(id) {
  return String(id + 1);
}

function readText(text) {
  return text === "" ? null : text.slice(0, LONGEST_CHOICE);
}

function readHex(text) {
  return /^(0x)?[0-9a-f]{1,16}$/i.test(text) ? BigInt(`0x${text.replace(/^0x/i, "")}`) : null;
}

function readFlag(text) {
  return text === "1" ? true : null;
}

function readPair(text) {
  const pair = text.split("-").map(readNumber);
  return pair.length !== 2 || pair.includes(null) ? null : pair;
}

/** Return the choices that a fragment tells; what it does not tell, or tells wrongly, is null. */
function readFragment(fragment) {
  const told = new URLSearchParams(fragment.replace(/^#/, ""));
  const choices = {};
  for (const [key, { short, read }] of Object.entries(STATE_KEYS)) {
    choices[key] = told.has(short) ? read(told.get(short)) : null;
  }
  return choices;
}

/** Write choices as a fragment, without those that nobody made. */
function writeFragment(choices) {
  const told = new URLSearchParams();
  for (const [key, { short, write }] of Object.entries(STATE_KEYS)) {
    if (choices[key] !== null) told.set(short, write(choices[key]));
  }
  return told.toString();
}

/** The choices of now; a null means the default. Whoever asked is told when one changes. */
class State {
  #choices = readFragment(location.hash);
  #listeners = [];
  #write = delay(WRITE_AFTER_MS, () => this.writeNow());

  constructor() {
    addEventListener("hashchange", () => this.#take(location.hash));
  }

  get(key) {
    return this.#choices[key];
  }

  /** Change some choices; listeners run once, after all of them. */
  set(changes) {
    const changed = Object.keys(changes).filter(
      (key) => !isSameChoice(key, this.#choices[key], changes[key]),
    );
    if (changed.length === 0) return;
    for (const key of changed) this.#choices[key] = changes[key];
    this.#write();
    this.#tell(changed);
  }

  /** Call a function after any of these choices changed. */
  subscribe(keys, call) {
    this.#listeners.push({ keys, call });
  }

  /** Put the choices into the address now. */
  writeNow() {
    const fragment = writeFragment(this.#choices);
    history.replaceState(null, "", fragment ? `#${fragment}` : "#");
  }

  #take(fragment) {
    const told = readFragment(fragment);
    const changed = Object.keys(told).filter((key) => !isSameChoice(key, this.#choices[key], told[key]));
    this.#choices = told;
    this.#tell(changed);
  }

  #tell(changed) {
    for (const { keys, call } of this.#listeners) {
      if (keys.some((key) => changed.includes(key))) call();
    }
  }
}

function isSameChoice(key, a, b) {
  if (a === null || b === null || a === undefined) return a === b;
  return STATE_KEYS[key].write(a) === STATE_KEYS[key].write(b);
}
