"""The collector: how much a run has looked at, counted by the tests themselves.

A test says what it has examined, and how often:

    def test_every_cut_is_noticed(examined):
        examined("cuts", 800)

Examples of hypothesis and cells of notebooks are counted without being asked. At the end of a run the sums are printed.
`examined.json` has the sums of both parts of the gate, each under what its command says after `-n`: `pytest`, and
`pytest tests/browser tests/servers ...`. Whoever runs one of them whole, with nothing failed and nothing skipped, must
not have examined less (`--store-examined` writes what it was): so nobody makes the gate quicker by looking at less.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

STORED = Path(__file__).parent / "examined.json"
PROPERTY = "examined: "
HYPOTHESIS = "examples of hypothesis"
CELLS = "cells of notebooks"

Examined = Callable[[str, int], None]
"""Tells the collector how many of a kind a test has examined."""


def counted(reports: Iterable[pytest.TestReport]) -> Counter[str]:
    """Return the sums of what passed tests have reported."""
    sums: Counter[str] = Counter()
    for report in reports:
        sums["tests"] += 1
        if ".ipynb::Cell " in report.nodeid:
            sums[CELLS] += 1
        for name, count in report.user_properties:
            if name.startswith(PROPERTY):
                sums[name.removeprefix(PROPERTY)] += int(str(count))
    return sums


def shortfall(sums: Counter[str], stored: dict[str, int]) -> list[str]:
    """Return what was examined less often than is stored, in words."""
    return [f"{kind}: {sums[kind]}, and {count} before" for kind, count in stored.items() if sums[kind] < count]


class Collector:
    """The plugin; `tests/conftest.py` registers it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._missing: list[str] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """Count the examples that hypothesis has tried: its own plugin, inside of this one, says how many passed."""
        yield
        passed = re.findall(r"(\d+) passing", getattr(item, "hypothesis_statistics", ""))
        if passed:
            item.user_properties.append((PROPERTY + HYPOTHESIS, sum(map(int, passed))))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a part of the gate that has examined too little."""
        part, stored = self._part(), json.loads(STORED.read_text(encoding="utf-8"))
        if hasattr(self._config, "workerinput") or part not in stored:
            return
        if self._config.getoption("store_examined"):
            stored[part] = self._sums()
            STORED.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        self._missing = shortfall(self._sums(), stored[part])
        if self._missing:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the sums."""
        said = ", ".join(f"{count} {kind}" for kind, count in sorted(self._sums().items()))
        terminalreporter.write_line(f"examined: {said}")
        for line in self._missing:
            terminalreporter.write_line(f"examined too few {line} (if that is meant: --store-examined)", red=True)

    def _sums(self) -> Counter[str]:
        return counted(report for report in self._stats().get("passed", []) if report.when == "call")

    def _stats(self) -> dict[str, list[pytest.TestReport]]:
        """Return the reports so far by their outcome; only the process that prints has them."""
        reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        return {} if reporter is None else reporter.stats

    def _part(self) -> str | None:
        """Return what was run, as one types it; None if not all of that was run, and passed."""
        option = self._config.option
        incomplete = any(self._stats().get(bad) for bad in ("failed", "error", "skipped", "deselected"))
        chosen = self._config.args if self._config.args_source is pytest.Config.ArgsSource.ARGS else []
        return None if option.keyword or option.markexpr or incomplete else " ".join(["pytest", *chosen])
