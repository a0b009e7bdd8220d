"""What nbval needs to know about the notebooks: fonts are looked up once, before any cell runs."""

import matplotlib.font_manager

# On its first import on a machine matplotlib builds its font cache, and says so on stderr if that
# takes long: nbval would compare that line.
__all__ = ["matplotlib"]
