"""One picture of a run: a row for each process, and below them the disk and the world (all sections).

run_events    what happened in a run, and what follows: what was lost, what was done again, who was charged twice
layout        events -> shapes: what is drawn where
shapes        rectangles, circles, lines and texts
svg           shapes -> SVG
png           shapes -> PNG, by matplotlib
picture       what a cell shows and stores: SVG, PNG, and the picture in a sentence
"""
