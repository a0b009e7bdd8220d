"""The environment check: a line for each need, and what to do."""

from minagent.lab.environment import NEEDS, check_environment


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
