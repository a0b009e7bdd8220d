"""One picture of a run: a row for each process, and below them the disk and the world (all sections).

run_events    what happened in a run, and what follows: what was lost, what was done again, who was charged twice
shapes        rectangles, circles, lines and texts, and these -> SVG, and -> PNG by matplotlib
picture       events -> shapes: what is drawn where; and what a cell stores: SVG, PNG, and the picture in a sentence
"""
