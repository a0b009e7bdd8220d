"""Time-outs and TLS, as the users of each driver set them: in the address, or as keywords."""

import datetime
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from minagent.lab.servers.local_servers import DURABLE, RedisServer, Server
from minagent.log import AppendUnknown, open_store
from tests.conftest import OF_THE_RUN


@contextmanager
def frozen(server: Server) -> Iterator[None]:
    """A server that does not answer: its processes are stopped."""
    for process in server.processes():
        process.suspend()
    try:
        yield
    finally:
        for process in server.processes():
            process.resume()


@pytest.mark.parametrize(
    ("server", "option"),
    [("redis", {"socket_timeout": 0.3}), ("s3", {"client_options": {"timeout": "300ms", "allow_http": True}})],
    indirect=["server"],
)
def test_a_server_that_does_not_answer_is_given_up(server: Server, option: dict[str, object]):
    """Of an append it is not known whether it was done; when the server is back, the same store goes on."""
    store = open_store(server.url, **option)
    store.append("demo", [b"1"], 0)
    with frozen(server):
        with pytest.raises(AppendUnknown):
            store.append("demo", [b"2"], 1)
        with pytest.raises(OSError, match=r"Redis|object store"):
            store.read("demo")
    assert store.read("demo").lines in ([b"1"], [b"1", b"2"])


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
@pytest.mark.parametrize(("in_the_url", "option"), [("&connect_timeout=2", {}), ("", {"connect_timeout": 2})])
def test_a_server_that_takes_nobody_in_is_given_up(server: Server, in_the_url: str, option: dict[str, int]):
    """By libpq's own time-out, in the address or as a keyword."""
    with frozen(server), pytest.raises(OSError, match="PostgreSQL: ConnectionTimeout"):
        open_store(server.url + in_the_url, **option)


def certificate(folder: Path) -> dict[str, Path]:
    """Make a key, and a certificate for this machine that it has signed itself."""
    key, today = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    built = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    built = built.not_valid_before(today).not_valid_after(today + datetime.timedelta(days=1))
    built = built.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    pem = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    files = {"cert": folder / "cert.pem", "key": folder / "key.pem"}
    files["cert"].write_bytes(built.sign(key, hashes.SHA256()).public_bytes(pem[0]))
    files["key"].write_bytes(key.private_bytes(*pem))
    for file in files.values():
        file.chmod(0o644)
    return files


def test_redis_by_tls(running: object):
    """With the right authority; with another one nothing is opened."""
    folder = OF_THE_RUN / f"tls-{os.getpid()}"
    folder.mkdir()
    folder.chmod(0o711)
    files = certificate(folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    tls = ["--tls-port", str(port), "--tls-cert-file", str(files["cert"]), "--tls-key-file", str(files["key"])]
    with RedisServer(folder / "redis", [*DURABLE, *tls, "--tls-auth-clients", "no"]):
        store = open_store(f"rediss://localhost:{port}", ssl_ca_certs=str(files["cert"]))
        store.append("demo", [b"1"], 0)
        assert store.read("demo").lines == [b"1"]
        with pytest.raises(OSError, match=r"Redis: ConnectionError: .*certificate"):
            open_store(f"rediss://localhost:{port}")
