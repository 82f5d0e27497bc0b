/* map_holes */
