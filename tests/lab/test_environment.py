"""The environment check: a line for each need, and what to do."""

import errno
import os

import pytest

from minagent.lab.kernel.environment import NEEDS, check_environment


def test_this_machine_is_ready():
    """Where the tests run, the notebooks run."""
    assert check_environment().endswith("All here: every notebook of the set runs offline.")
    assert len(check_environment().splitlines()) == len(NEEDS) + 1


def test_what_is_missing_is_named_with_its_remedy():
    """Each missing thing has its own line, and the sum says how many."""
    needs = {"air": (lambda: True, "breathe"), "water": (lambda: False, "drink"), "bread": (lambda: False, "bake")}
    assert check_environment(needs).splitlines() == [
        "✓ air",
        "✗ water: missing; drink",
        "✗ bread: missing; bake",
        "2 missing: see above.",
    ]


@pytest.mark.parametrize("refused", ["link", "fsync", "replace", "mkdir"])
def test_a_folder_that_cannot_do_what_a_save_needs_is_named(monkeypatch: pytest.MonkeyPatch, refused: str):
    """On exFAT, say, and in the shared folders of some containers, there are no hard links."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, refused, refuse)
    lines = check_environment().splitlines()
    assert [line.partition(":")[0] for line in lines if line.startswith("✗")] == [
        "✗ a temporary folder with hard links, that can be forced to disk"
    ]
    assert lines[-1] == "1 missing: see above."
