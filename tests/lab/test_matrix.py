"""The crash matrix: its counts are closed forms of the crash points that it lists, and the zeros are zeros."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from minagent.lab.matrix.crash_matrix import Case, Harm, damage_newest_checkpoint, run, single_crashes
from minagent.lab.matrix.variants import LOG_IN_SQLITE, STANDARD, VARIANTS, Shape, Variant
from minagent.lab.world.payments import Payments
from minagent.log import SessionLog, SqliteStore
from tests.examined import Examined

ALL = VARIANTS | {LOG_IN_SQLITE.name: LOG_IN_SQLITE}
OTHER_ANSWER = Shape(repeats_itself=False)
NAMES = list(vars(Harm(0, 0, 0, 0, 0, 0)))

APPEND = ["write", "half", "fsync"]
SAVE = ["write", "half", "fsync", "rename", "fsync", "rename", "fsync"]
COMMIT = ["insert", "insert", "commit"]
CALL = ["tool", "result"]
MODEL = ["model", "answer"]

POINTS = {
    "chapter": ([*MODEL, *CALL, *CALL, *SAVE], SAVE),
    "plan saved first": ([*MODEL, *SAVE, *CALL, *CALL, *SAVE], SAVE),
    "saved after each tool": ([*MODEL, *SAVE, *CALL, *SAVE, *CALL, *SAVE], SAVE),
    "log, retry": ([*MODEL, *APPEND, *CALL, *APPEND, *CALL, *APPEND], APPEND),
    "log, skip": ([*MODEL, *APPEND, *CALL, *APPEND, *CALL, *APPEND], APPEND),
    "log, ask the tool": ([*MODEL, *APPEND, *CALL, *APPEND, *CALL, *APPEND], APPEND),
    "log, keys": ([*MODEL, *APPEND, *CALL, *APPEND, *CALL, *APPEND], APPEND),
    "log in SQLite, keys": ([*MODEL, *COMMIT, *CALL, *COMMIT, *CALL, *COMMIT], COMMIT),
    "one transaction": ([*MODEL, *COMMIT, *CALL, *COMMIT, *CALL, *COMMIT], COMMIT),
}
"""The points of one step, and those after the final answer."""


Counts = dict[str, tuple[int, int]]


def counts(cases: list[Case]) -> Counts:
    """Return for each kind of harm that there is: at how many points, and how much at most."""
    found = {name: [getattr(case.outcome, name) for case in cases] for name in NAMES}
    return {name: (sum(map(bool, harm)), max(harm)) for name, harm in found.items() if any(harm)}


@pytest.mark.parametrize("name", ALL)
def test_the_crash_points_are_those_that_are_listed(name: str):
    """Three steps, and the answer."""
    step, end = POINTS[name]
    (points,), outcome = run(ALL[name], STANDARD, [])
    assert points == [*step * 3, *MODEL, *end]
    assert outcome == Harm(0, 0, 0, 0, 0, 0)
    assert [case.points for case in single_crashes(ALL[name])] == [(point,) for point in points]


def closed_form(name: str, shape: Shape) -> Counts:
    """Return what follows from the points of a step, without running anything: S steps with K tools."""
    s, k = shape.steps, shape.tools
    save, append, commit = 6, 2, 3  # points of a write until what it writes is what the next process finds
    in_step = (s * (2 * k - 1 + save), k)  # from the first result of a step until the save at its end
    # From a result until it is written:
    in_save, in_append, in_commit = ((s * k * (1 + write), 1) for write in (save, append, commit))
    in_call = (2 * s * k, 1)  # from an intent until the effect
    again = {write: ((s + 1) * (1 + write), 1) for write in (save, append, commit)}
    kind = "repeated" if shape.repeats_itself else "unrecorded"
    forms: dict[str, Counts] = {
        "chapter": {"lost": in_step, kind: in_step, "paid_again": (again[save][0] + 2 * s * k, 1)},
        "plan saved first": {"lost": in_step, "repeated": in_step, "paid_again": again[save]},
        "saved after each tool": {"lost": in_save, "repeated": in_save, "paid_again": again[save]},
        "log, retry": {"lost": in_append, "repeated": in_append, "paid_again": again[append]},
        "log, skip": {
            "lost": in_append,
            "missing": in_call,
            "unknown": (in_append[0] + in_call[0], 1),
            "paid_again": again[append],
        },
        "log, ask the tool": {"paid_again": again[append]},
        "log, keys": {"lost": in_append, "paid_again": again[append]},
        "log in SQLite, keys": {"lost": in_commit, "paid_again": again[commit]},
        "one transaction": {"paid_again": again[commit]},
    }
    return forms[name]


@pytest.mark.parametrize("shape", [STANDARD, OTHER_ANSWER, Shape(2, 1), Shape(1, 4)], ids=str)
@pytest.mark.parametrize("name", ALL)
def test_the_counts_are_the_closed_form_of_the_points(name: str, shape: Shape, examined: Examined):
    """In numbers for the standard run: 27 points of 48 for the chapter's way, 18 of 50 for the log with retry."""
    cases = single_crashes(ALL[name], shape)
    examined("crash points", len(cases))
    assert counts(cases) == closed_form(name, shape)


def test_saving_before_the_tools_prevents_no_repeat_but_saves_paid_calls():
    """As many points as the chapter's way; and what the model wants does not change any more."""
    chapter, plan = closed_form("chapter", STANDARD), closed_form("plan saved first", STANDARD)
    assert chapter["repeated"] == plan["repeated"] == (27, 2)
    assert (chapter["paid_again"], plan["paid_again"]) == ((40, 1), (28, 1))
    assert "unrecorded" in closed_form("chapter", OTHER_ANSWER)
    assert "unrecorded" not in closed_form("plan saved first", OTHER_ANSWER)


@pytest.mark.parametrize(("name", "windows", "width"), [("chapter", 3, 9), ("log, retry", 6, 3), ("log, keys", 0, 0)])
def test_the_log_with_retry_leaves_one_window_for_each_tool(name: str, windows: int, width: int):
    """Neighbouring points: the chapter's window is a step wide, with other tools in it; the log's is one append."""
    harmful = [bool(case.outcome.repeated) for case in single_crashes(VARIANTS[name])]
    widths = [len(list(group)) for harm, group in groupby(harmful) if harm]
    assert widths == [width] * windows


def test_the_intent_is_what_makes_the_doubt_known(monkeypatch: pytest.MonkeyPatch):
    """The sabotage: without it a tool that could be asked is not asked, and the zero is a zero no more."""

    def no_intent(log: SessionLog, session: object, cursor: object, *_: object) -> str:
        log.record(session, cursor)  # type: ignore[arg-type]
        return "i1"

    assert "repeated" not in counts(single_crashes(VARIANTS["log, ask the tool"]))
    monkeypatch.setattr(SessionLog, "record_intent", no_intent)
    assert counts(single_crashes(VARIANTS["log, ask the tool"]))["repeated"] == (18, 1)


@pytest.mark.parametrize("variant", [VARIANTS["log, keys"], LOG_IN_SQLITE], ids=lambda variant: variant.name)
def test_the_append_before_the_tool_is_what_makes_a_key_worth_something(
    monkeypatch: pytest.MonkeyPatch, variant: Variant
):
    """The other sabotage: take the whole append out, and a model that changes its mind leaves charges behind."""

    def no_append(log: SessionLog, session: object, _: object, call: int, __: str) -> str:
        return f"i1-{len(session.messages)}-{call}"  # type: ignore[attr-defined]

    monkeypatch.setattr(SessionLog, "record_intent", no_append)
    found = counts(single_crashes(variant, OTHER_ANSWER))
    assert found["unrecorded"][0] > 0


def test_an_append_that_returns_before_its_commit_does_harm_in_sqlite(monkeypatch: pytest.MonkeyPatch):
    """The same sabotage in the database: what the tool does comes before the commit of the plan to do it."""
    append = SqliteStore.append

    def append_and_commit_later(store: SqliteStore, session_id: str, records: Sequence[bytes], length: int) -> None:
        if b'"kind":"intent"' not in records[-1]:
            append(store, session_id, records, length)
            return
        append(store, session_id, [], length)  # commits what waits
        with store.effect() as database:
            rows = [(session_id.encode(), number, line) for number, line in enumerate(records, length)]
            database.executemany("INSERT INTO records VALUES (?, ?, ?)", rows)
            store._set_head(session_id.encode(), 0, length + len(records))

    assert "unrecorded" not in counts(single_crashes(LOG_IN_SQLITE, OTHER_ANSWER))
    monkeypatch.setattr(SqliteStore, "append", append_and_commit_later)
    assert counts(single_crashes(LOG_IN_SQLITE, OTHER_ANSWER))["unrecorded"] == (3 * (1 + 3), 1)


def test_the_key_is_what_counts_in_sqlite_and_in_one_transaction_the_commit(monkeypatch: pytest.MonkeyPatch):
    """A service that ignores keys charges again; one that commits with the log does not, until it commits alone."""
    monkeypatch.setattr(Payments, "_kept", lambda *_: None)
    repeated = (3 * 2 * (1 + 3), 1)
    assert counts(single_crashes(LOG_IN_SQLITE))["repeated"] == repeated
    assert counts(single_crashes(VARIANTS["one transaction"])).keys() == {"paid_again"}

    @contextmanager
    def effect_alone(store: SqliteStore) -> Iterator[sqlite3.Connection]:
        with store._transaction() as database:
            yield database

    monkeypatch.setattr(SqliteStore, "effect", effect_alone)
    assert counts(single_crashes(VARIANTS["one transaction"]))["repeated"] == repeated


def test_a_key_that_has_expired_is_worth_nothing(monkeypatch: pytest.MonkeyPatch):
    """Resumed a day later: the service has forgotten, and charges again."""
    payments: list[Payments] = []
    make = Payments.__init__

    def watched(self: Payments, database: object) -> None:
        make(self, database)  # type: ignore[arg-type]
        payments.append(self)

    monkeypatch.setattr(Payments, "__init__", watched)

    def a_day_later(_: Path) -> None:
        payments[-1].let_pass(24)

    after_the_effect = POINTS["log, keys"][0].index("result") + 1
    assert run(VARIANTS["log, keys"], STANDARD, [after_the_effect])[1].repeated == 0
    assert run(VARIANTS["log, keys"], STANDARD, [after_the_effect], a_day_later)[1].repeated == 1


@pytest.mark.parametrize("shape", [Shape(6, 2), Shape(6, 2, repeats_itself=False)], ids=str)
@pytest.mark.parametrize("name", ["chapter", "log, retry", "log, keys"])
def test_an_older_checkpoint_needs_the_log_after_it(name: str, shape: Shape):
    """The newest one is damaged: without a log the effects since the one before come again, or are left behind."""
    variant = replace(VARIANTS[name], checkpoints=True)
    (points,), _ = run(variant, shape, [])
    in_the_sixth_model_call = [n for n, point in enumerate(points, 1) if point == "model"][5]
    _, undamaged = run(variant, shape, [in_the_sixth_model_call])
    _, found = run(variant, shape, [in_the_sixth_model_call], damage_newest_checkpoint)
    assert undamaged == Harm(0, 0, 0, 0, 0, 0)
    if name != "chapter":
        assert found == undamaged
    elif shape.repeats_itself:
        assert (found.repeated, found.unrecorded) == (2, 0)
    else:
        assert (found.repeated, found.unrecorded) == (0, 2)


def test_a_log_that_is_compacted_all_the_time_does_no_harm(examined: Examined):
    """Each file call of each checkpoint and truncation is a crash point, too."""
    cases = single_crashes(replace(VARIANTS["log, keys"], checkpoints=True))
    assert len(cases) == 85
    examined("crash points", len(cases))
    assert counts(cases) == closed_form("log, keys", STANDARD)
