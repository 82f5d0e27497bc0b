/* timeline_chart */
