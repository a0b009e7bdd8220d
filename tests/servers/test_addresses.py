"""Addresses of servers: what is opened, what is told, and what never is: a password."""

import traceback

import pytest

from minagent import InvalidValue
from minagent.lab.servers.crashes import close
from minagent.lab.servers.local_servers import Server
from minagent.log import open_store
from tests.servers.conftest import LASTING

SECRET = "s3cret-w0rd"  # noqa: S105 - that is the point


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ann:{SECRET}@127.0.0.1:9/agents",
        f"postgresql://ann:{SECRET}@127.0.0.1:0/agents",
        f"postgresql://ann:x@{SECRET}@127.0.0.1/agents",
        f"postgresql://ann:1/{SECRET}@127.0.0.1/agents",
        f"postgresql://ann:x:{SECRET}@127.0.0.1/agents",
        f"redis://ann:{SECRET}@127.0.0.1:9/0",
        f"redis://ann:x@{SECRET}@127.0.0.1:9/0",
        f"redis://ann:1/{SECRET}@127.0.0.1:9/0",
        f"redis://ann:x:{SECRET}@127.0.0.1:9/0",
        f"redis://127.0.0.1:9/{SECRET}",
        f"s3://bucket/prefix?endpoint=http://127.0.0.1:9&access_key_id=ann&secret_access_key={SECRET}",
        f"s3://bucket/prefix?secret_acces_key={SECRET}",
        f"s3://ann:{SECRET}@bucket/prefix?endpoint=http://127.0.0.1:9",
    ],
)
def test_nobody_answers_and_no_error_tells_the_password(url: str):
    """Neither the error nor what has caused it, however the address is misread."""
    with pytest.raises((OSError, InvalidValue)) as error:
        open_store(url)
    assert SECRET not in "".join(traceback.format_exception(error.value, chain=True)).replace(f'"{url}"', "")
    assert SECRET not in str(error.value)


def test_a_store_does_not_show_its_address(server: Server):
    """In a log or a debugger."""
    store = open_store(server.url)
    assert server.url not in repr(store)
    close(store)


@LASTING
def test_a_server_that_is_gone_is_an_os_error_and_nothing_was_added(server: Server):
    """And when it is back, the same store goes on."""
    store = open_store(server.url)
    store.append("demo", [b"1"], 0)
    server.kill()
    for _ in range(2):
        with pytest.raises(OSError, match=r"PostgreSQL|Redis"):
            store.read("demo")
    server.start()
    store.append("demo", [b"2"], 1)
    assert store.read("demo").lines == [b"1", b"2"]
    close(store)
