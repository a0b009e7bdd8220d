"""The stores' promises on real servers, and the five requirements of `check_store`."""

from collections.abc import Callable

import pytest

from minagent.lab.any_store.check_store import check_store
from minagent.lab.servers.local_servers import Server
from minagent.log.contract import CHECKS, trials
from minagent.log.stores.base import Store


@pytest.mark.parametrize("number", CHECKS)
def test_the_store_keeps_its_promises(server: Server, reopen: Callable[[], Store], number: int):
    """One check a promise."""
    assert [expected for expected, holds in trials(CHECKS[number], reopen(), reopen) if not holds] == []


def test_the_five_requirements_are_kept(server: Server, reopen: Callable[[], Store]):
    """As of the stores of the default install."""
    table = check_store(reopen(), reopen)
    assert table.kept, str(table)
