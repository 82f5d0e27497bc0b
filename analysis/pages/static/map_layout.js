/* map_layout */
