"""A log under whatever comes, against a list: append, crash, resume, checkpoint, compact, and damage of the tail."""

import copy
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from minagent import Message, Session
from minagent.log.session_log import SessionLog
from minagent.log.stores.file import FileStore


class LogMachine(RuleBasedStateMachine):
    """The reference is the list of messages that were acknowledged."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="minagent-")
        self.messages = [Message("user", "hello")]
        self.metadata: dict[str, int] = {}
        self.writers = 0
        self.good = 0
        """How many checkpoints are good."""
        self.damaged = False
        """Whether the newest one is not."""

    def teardown(self) -> None:
        """Leave no folder behind."""
        self.log.store.close()  # type: ignore[attr-defined]
        self.folder.cleanup()

    @initialize()
    def begin(self) -> None:
        """A session with one question."""
        session = Session("demo", list(self.messages), "2026-01-01T00:00:00Z")
        self.log = SessionLog.begin(FileStore(self.folder.name), session, None, writer="w0", incarnation="i")

    @rule(texts=st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=3), mark=st.integers(0, 2))
    def append(self, texts: list[str], mark: int) -> None:
        """A batch of messages, and perhaps other metadata."""
        session = copy.deepcopy(self.log.state.session)
        session.messages += [Message("assistant" if n % 2 else "user", text) for n, text in enumerate(texts)]
        session.metadata = {"mark": mark}
        self.log.record(session, None)
        self.messages, self.metadata = list(session.messages), {"mark": mark}

    @rule()
    def crash_and_resume(self) -> None:
        """What was in memory is gone."""
        self.writers += 1
        self.log.store.close()  # type: ignore[attr-defined]
        self.log = SessionLog.resume(FileStore(self.folder.name), "demo", writer=f"w{self.writers}")

    @rule(tail=st.binary(min_size=1, max_size=40).filter(lambda tail: b"\n" not in tail))
    def crash_in_an_append(self, tail: bytes) -> None:
        """A part of a batch is in the file, and the process is gone."""
        with Path(self.folder.name, "demo.log.jsonl").open("ab") as file:
            file.write(tail)
        self.crash_and_resume()
        assert self.log.report.torn >= len(tail)  # and what an earlier one left, if nobody has appended since

    @rule()
    def crash_in_the_middle_of_a_batch(self) -> None:
        """Its first record is whole, and another one was to follow."""
        with Path(self.folder.name, "demo.log.jsonl").open("ab") as file:
            file.write(b'{"whole":1} \n')
        self.crash_and_resume()

    @rule()
    def checkpoint(self) -> None:
        """A shortcut."""
        self.log.checkpoint()
        self.good, self.damaged = len(self.log.store.checkpoints("demo")), False

    @rule()
    def compact(self) -> None:
        """A shortcut, and the records before the one before it go."""
        self.log.compact()
        self.good, self.damaged = len(self.log.store.checkpoints("demo")), False

    @rule(byte=st.integers(0, 10**6))
    def damage_the_newest_checkpoint(self, byte: int) -> None:
        """If there is a good older one, or all records are left, it costs a longer replay and nothing else."""
        checkpoints = self.log.store.checkpoints("demo")
        if checkpoints and not self.damaged and (self.good > 1 or self.log.store.read("demo").first == 0):
            number, document = checkpoints[0]
            data = bytearray(document)
            data[byte % len(data)] ^= 1
            self.log.store.put_checkpoint("demo", number, bytes(data))
            self.crash_and_resume()
            assert self.log.report.passed_over
            self.good, self.damaged = 1, True

    @invariant()
    def what_was_acknowledged_is_there(self) -> None:
        """No more, and no less."""
        if hasattr(self, "log"):
            state = SessionLog.resume(self.log.store, "demo", writer="reader").state
            assert (state.session.messages, state.session.metadata) == (self.messages, self.metadata)
            assert state == self.log.state


TestLogMachine = LogMachine.TestCase
TestLogMachine.settings = settings(max_examples=1000, stateful_step_count=12, deadline=None)
