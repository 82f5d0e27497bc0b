// Starts the views of a page, once its data is read.

const page = await readPage();
document.documentElement.dataset.ready = String(page.snapshots.length);
