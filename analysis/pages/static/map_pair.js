/* map_pair */
