"""A child kernel: its variables die with it, and what was saved does not."""

import gc
from pathlib import Path

from minagent.lab.kernel.child_kernel import ChildKernel


def test_what_a_kernel_knows_dies_with_it_and_what_it_saved_does_not(tmp_path: Path):
    """SIGKILL, and a new process: NameError, until it is loaded from the disk."""
    kernel = ChildKernel()
    saved = tmp_path / "saved.txt"
    kernel.run(f"from pathlib import Path; x = 41; Path({str(saved)!r}).write_text(str(x))")
    assert kernel.run("print('in it:', x)\nx + 1") == "in it: 41\n42"
    kernel.crash()
    assert not kernel.alive
    kernel.restart()
    assert kernel.run("x") == "NameError: name 'x' is not defined"
    assert kernel.run(f"from pathlib import Path; int(Path({str(saved)!r}).read_text())") == "41"
    kernel.close()
    assert not kernel.alive


def test_a_kernel_that_is_dropped_leaves_no_process():
    """Nor does a notebook that is closed."""
    kernel = ChildKernel()
    manager = kernel._manager
    del kernel
    gc.collect()
    assert not manager.is_alive()
