/* The maps of two snapshots that are compared. */

function mountMapPair() {}
