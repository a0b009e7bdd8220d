"""The payment service: each sentence of its specification, in a process of its own, read from its own database."""

import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from minagent import EffectUnknown
from minagent.lab.matrix.payment_service import HERE, LEDGER, PaymentService, sender
from minagent.lab.world.payments import PaymentClient, PaymentRefused, Payments, Request
from minagent.log import DidNotHappen, Happened, Unknown
from tests.conftest import in_process_table


@pytest.fixture
def service(tmp_path: Path) -> Iterator[PaymentService]:
    """A service with an empty ledger."""
    with PaymentService(tmp_path) as service:
        yield service


@pytest.fixture
def client(service: PaymentService) -> PaymentClient:
    """Somebody who pays."""
    return PaymentClient(sender(service.port))


LAMP = {"id": 1, "order": "lamp", "amount": 26}


def test_without_a_key_each_request_charges(service: PaymentService, client: PaymentClient):
    """The service cannot know better."""
    assert [client.charge("lamp", 26) for _ in range(2)] == ["charged 26 for lamp"] * 2
    assert service.charges() == [LAMP, {**LAMP, "id": 2}]


def test_with_a_key_the_second_request_gets_the_first_answer(service: PaymentService, client: PaymentClient):
    """Nobody is charged twice; another key is another charge."""
    for _ in range(3):
        assert service.send(Request("POST", "/charges", {"order": "lamp", "amount": 26}, "k1")) == (200, LAMP)
    client.charge("lamp", 26, key="k2")
    assert [charge["id"] for charge in service.charges()] == [1, 2]
    assert service.requests() == 4


def test_another_request_with_the_same_key_is_an_error(service: PaymentService, client: PaymentClient):
    """It is not the request that was kept."""
    client.charge("lamp", 26, key="k1")
    with pytest.raises(PaymentRefused, match="the key 'k1' was used for another request"):
        client.charge("lamp", 27, key="k1")
    assert service.charges() == [LAMP]


@pytest.mark.parametrize(
    ("amount", "key", "said"), [(0, "k1", "at least 1"), (26, "", "1 to 255"), (26, "k" * 256, "1 to 255")]
)
def test_what_is_refused_is_not_kept(service: PaymentService, client: PaymentClient, amount: int, key: str, said: str):
    """The same key can be used for the right request."""
    with pytest.raises(PaymentRefused, match=said):
        client.charge("lamp", amount, key=key)
    client.charge("lamp", 26, key="k1")
    client.charge("chair", 80, key="k" * 255)
    assert [charge["order"] for charge in service.charges()] == ["lamp", "chair"]


def test_a_key_expires(service: PaymentService, client: PaymentClient):
    """After 24 hours the same request is a new one; a request on the way does not renew it."""
    client.charge("lamp", 26, key="k1")
    service.let_pass(23)
    client.charge("lamp", 26, key="k1")
    assert len(service.charges()) == 1
    service.let_pass(1)
    client.charge("lamp", 26, key="k1")
    assert len(service.charges()) == 2


def carry_one_way(here: socket.socket, port: int) -> None:
    """Carry a request to the service, and not its answer back."""
    caller, _ = here.accept()
    with caller, socket.create_connection((HERE, port)) as service:
        request = b""
        while not request.endswith(b"}"):
            request += caller.recv(1 << 16)
        service.sendall(request)
        assert service.recv(1)  # it has answered


def test_a_lost_answer_is_an_effect_of_which_nobody_knows(service: PaymentService, client: PaymentClient):
    """It has happened; the same request with the same key finds out, and so does the reference."""
    with socket.create_server((HERE, 0)) as here, ThreadPoolExecutor(1) as pool:
        carried = pool.submit(carry_one_way, here, service.port)
        with pytest.raises(EffectUnknown, match="no answer from the payment service"):
            PaymentClient(sender(here.getsockname()[1])).charge("lamp", 26, key="k1", reference="r1")
        carried.result()
    assert service.charges() == [LAMP]
    assert client.what_happened("r1") == Happened("charged 26 for lamp")
    assert client.what_happened("r2") == DidNotHappen()
    assert client.charge("lamp", 26, key="k1", reference="r1") == "charged 26 for lamp"
    assert service.charges() == [LAMP]


def test_a_service_that_is_gone_leaves_it_unknown(service: PaymentService, client: PaymentClient):
    """Nobody answers; the ledger is still there."""
    client.charge("lamp", 26)
    service.close()
    with pytest.raises(EffectUnknown):
        client.charge("chair", 80)
    assert client.what_happened("r1") == Unknown()
    assert service.charges() == [LAMP]


def test_the_ledger_outlives_the_service(tmp_path: Path):
    """Keys, too."""
    for _ in range(2):
        with PaymentService(tmp_path) as service:
            PaymentClient(service.send).charge("lamp", 26, key="k1")
    database = sqlite3.connect(tmp_path / LEDGER)
    assert Payments(database).charges() == [LAMP]
    database.close()


def test_other_requests_are_not_found(service: PaymentService):
    """And malformed ones are refused."""
    assert service.send(Request("POST", "/refunds", {})) == (404, {"error": "there is no POST /refunds"})
    status, _ = service.send(Request("POST", "/charges", {"order": "lamp"}))
    assert (status, service.charges()) == (400, [])


def test_an_expired_key_is_kept_anew(service: PaymentService, client: PaymentClient):
    """From the new request on."""
    client.charge("lamp", 26, key="k1")
    service.let_pass(30)
    for _ in range(2):
        client.charge("lamp", 26, key="k1")
    assert len(service.charges()) == 2


def test_the_clock_does_not_begin_again_with_the_process(tmp_path: Path):
    """A key lives 24 hours, whatever the service does meanwhile."""
    with PaymentService(tmp_path) as service:
        PaymentClient(service.send).charge("lamp", 26, key="k1")
        service.let_pass(25)
    with PaymentService(tmp_path) as service:
        PaymentClient(service.send).charge("lamp", 26, key="k1")
        assert len(service.charges()) == 2


def test_forgetting_forgets_keys_too(service: PaymentService, client: PaymentClient):
    """The next run begins with nothing."""
    client.charge("lamp", 26, key="k1")
    service.forget()
    client.charge("chair", 80, key="k1")
    assert service.charges() == [{"id": 1, "order": "chair", "amount": 80}]


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"order": "lamp", "amount": True},
        {"order": "lamp", "amount": 2**70},
        {"order": "\ud83d", "amount": 26},
        {"order": "lamp", "amount": 26, "reference": [1]},
        {"order": "lamp", "amount": 26, "more": float("nan")},
    ],
)
def test_what_makes_no_sense_is_refused_and_leaves_nothing(service: PaymentService, client: PaymentClient, body: Any):
    """Not even a half that the next request would commit."""
    status, answer = service.send(Request("POST", "/charges", body, "k1"))
    assert status == 400
    assert answer["error"]
    client.charge("lamp", 26, key="k1")
    assert (service.charges(), service.requests()) == ([LAMP], 1)


def test_a_service_that_does_not_start_says_so(tmp_path: Path):
    """Its folder is not there."""
    with pytest.raises(RuntimeError, match="the payment service did not start"):
        PaymentService(tmp_path / "nowhere")


def test_a_service_ends_with_its_owner_however_that_ends(tmp_path: Path):
    """A kernel that is killed leaves no service behind."""
    program = (
        "import sys; from pathlib import Path\n"
        "from minagent.lab.matrix.payment_service import PaymentService\n"
        "service = PaymentService(Path(sys.argv[1]))\n"
        "print(service.process.pid, flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert in_process_table(pid)
        owner.kill()
    for _ in range(2400):
        if not in_process_table(pid):
            return
        time.sleep(0.05)
    pytest.fail("the service is still there")
