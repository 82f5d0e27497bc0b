/* map_paint */
