"""The stores' promises on real servers, and the requirements of `check_store`."""

from collections.abc import Callable

import pytest

from minagent.lab.any_store.check_store import check_store
from minagent.lab.servers.local_servers import Server
from minagent.log.contract import CHECKS, trials
from minagent.log.stores.base import Store
from tests.examined import Examined
from tests.log.stores.broken import THROUGH


@pytest.mark.parametrize("number", CHECKS)
def test_the_store_keeps_its_promises(server: Server, reopen: Callable[[], Store], number: int):
    """One check a promise."""
    assert [expected for expected, holds in trials(CHECKS[number], reopen(), reopen) if not holds] == []


@pytest.mark.parametrize("shape", THROUGH)
def test_a_store_that_breaks_a_promise_is_caught(
    server: Server, reopen: Callable[[], Store], examined: Examined, shape: str
):
    """By the check of that promise, whatever the store below it does well."""
    number, broken = THROUGH[shape]
    found = trials(CHECKS[number], broken(reopen()), lambda: broken(reopen()))
    assert not all(holds for _, holds in found)
    examined("broken stores caught on a server", 1)


def test_the_five_requirements_are_kept(server: Server, reopen: Callable[[], Store]):
    """As of the stores of the default install."""
    table = check_store(reopen(), reopen)
    assert table.kept, str(table)
