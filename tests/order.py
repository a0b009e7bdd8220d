"""The order in which the workers share the tests: all are to end together, and a failure is to show at once.

One worker begins with the tests that share one JupyterLab. The others begin with what is quick, so that a mistake shows
within seconds; then come the long modules, the longest first, and whoever is free takes the next.
"""

from collections import OrderedDict

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

IN_JUPYTERLAB = "tests/browser, in JupyterLab"
LONG = (
    "tests/lab/test_real_crashes.py",
    "tests/browser/test_slides.py",
    "tests/log/test_log_machine.py",
    "tests/lab/test_simulate.py",
    "notebooks/7.3.8_how_often.ipynb",
    "tests/lab/test_check_store.py",
    "tests/lab/test_interleavings.py",
    "tests/lab/test_double_crashes.py",
    "tests/test_code_quality.py",
    "tests/browser/test_static_pages.py",
    "tests/lab/test_trials.py",
    "tests/lab/test_matrix.py",
    "tests/lab/test_faults.py",
    "tests/log/test_log_faults.py",
    "tests/test_checkpoint_properties.py",
    "tests/test_notebooks.py",
    "tests/lab/test_score.py",
    "notebooks/7.3.9b_two_writers.ipynb",
    "tests/log/stores/test_file.py",
    "tests/log/test_session_log.py",
    "notebooks/7.3.6b_crash_matrix.ipynb",
    "notebooks/7.3.2b_power_loss.ipynb",
    "tests/lab/test_explorer.py",
    "tests/lab/test_crash_lab_widget.py",
    "notebooks/7.3.7_checking_what_was_restored.ipynb",
    "tests/lab/test_crash_replay.py",
    "notebooks/7.3.5_run_crash_resume.ipynb",
)
"""What takes longest, the longest first, as `pytest --durations=0` has it."""


def rank(scope: str) -> tuple[int, int]:
    """Return a scope's place: JupyterLab, then what is quick, then what is long, notebooks that are neither last."""
    if scope == IN_JUPYTERLAB:
        return 0, 0
    if scope in LONG:
        return 2, LONG.index(scope)
    return (3, 0) if scope.startswith("notebooks/") else (1, 0)


class InOrder(LoadScopeScheduling):
    """Gives each worker a module at a time, as xdist's own `loadscope` does, in the order of `rank`."""

    workqueue: OrderedDict[str, dict[str, bool]]

    def _split_scope(self, nodeid: str) -> str:
        """Return what must not be shared between workers: a module, a notebook, or all that is seen in JupyterLab."""
        return IN_JUPYTERLAB if "_in_jupyterlab.py::" in nodeid else str(super()._split_scope(nodeid))

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Give a worker the next module."""
        # Sorted here, since xdist puts the modules with most tests first, and says so to nobody.
        self.workqueue = OrderedDict(sorted(self.workqueue.items(), key=lambda unit: rank(unit[0])))
        super()._assign_work_unit(node)
