/* map_view */
