"""What nbval needs to know about the notebooks: where their kernels leave files, and the fonts."""

import os
import tempfile

import matplotlib.font_manager

# nbval ends a kernel by killing it, so that nothing in it can tidy up: what it left goes with this.
_left_by_kernels = tempfile.TemporaryDirectory(prefix="minagent-", ignore_cleanup_errors=True)
os.environ["TMPDIR"] = _left_by_kernels.name

# On its first import on a machine matplotlib builds its font cache, and says so on stderr if that
# takes long: nbval would compare that line.
__all__ = ["matplotlib"]
