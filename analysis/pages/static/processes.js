/* Of which process a snapshot is, and what goes along when another one is chosen: its comparison, its timeline. */

/** Name a process by its name and pid, as analysis/pages/processes.py does. */
function nameProcess({ head }) {
  return `${head.process ?? "unknown process"}${head.pid === null ? "" : ` (pid ${head.pid})`}`;
}

/** Return what stands before a line about one process, where the page has several: its name. */
function tellWhose(app, snapshot) {
  return app.page.rooms.length > 0 ? `${nameProcess(snapshot)}: ` : "";
}

/** Return the number of the timeline of a snapshot, -1 where its process has only this one. */
function findTimeline(page, id) {
  return page.timelines.findIndex(({ snapshots }) => snapshots.includes(id));
}

/** Tell whether two snapshots are of one process, or of two that have its role alone. */
function isOneSubject(page, a, b) {
  return a === b || page.rooms.length === 0 || isOneProcess(page, a, b) || page.pairs.some((pair) => pair.includes(a) && pair.includes(b));
}

/** Show another snapshot. Of another process, what was compared of the one before is chosen no more. */
function chooseSnapshot(app, id, more = {}) {
  const diff = app.state.get("diff");
  const isKept = diff === null || diff.every((each) => isOneSubject(app.page, id, each));
  app.state.set({ snapshot: id, ...(isKept ? {} : { diff: null }), ...more });
}

/** Return the pair to compare: the chosen one, else the ends of the process that is shown, else what the page holds
    of it; null where there is one snapshot of it. */
function choosePair(app) {
  const { snapshots, diffs, timelines, pairs } = app.page;
  const chosen = app.state.get("diff");
  if (chosen !== null && chosen.every((id) => id < snapshots.length)) return chosen;
  const { id } = app.snapshot();
  const held = diffs.find(({ a, b }) => a === id || b === id);
  if (held) return [held.a, held.b];
  const timeline = timelines[findTimeline(app.page, id)];
  if (timeline) return [timeline.snapshots[0], timeline.snapshots.at(-1)];
  return pairs.find((pair) => pair.includes(id)) ?? null;
}
