"""Requests to ingest's public port, byte by byte, and an ingest that answers them."""

import json
import pathlib
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from SystemTests.support.ingest_process import IngestProcess, RawConnection
from SystemTests.support.running_system import System

MIB = 1 << 20
BODY_LIMIT, HEADER_LIMIT, COUNT_LIMIT, TARGET_LIMIT = 262_144, 16_384, 100, 8192  # Documentation/configuration.md


def ingest(system: System, folder: pathlib.Path, limits: dict[str, object]) -> Iterator[IngestProcess]:
    with IngestProcess(system, folder, limits) as process:
        yield process
        assert process.is_alive(), "ingest ended: " + process.log_path.read_text(errors="replace")[-2000:]


@pytest.fixture(scope="module")
def edge(system: System, tmp_path_factory: pytest.TempPathFactory) -> Iterator[IngestProcess]:
    """An ingest with the documented limits."""
    yield from ingest(system, tmp_path_factory.mktemp("edge"), {"headerTime": "10s"})


@pytest.fixture(scope="module")
def edge_with_short_timeouts(system: System, tmp_path_factory: pytest.TempPathFactory) -> Iterator[IngestProcess]:
    """An ingest with short timeouts, so that tests need not wait long."""
    yield from ingest(system, tmp_path_factory.mktemp("edge_with_short_timeouts"), {"headerTime": "1s", "bodyTime": "2s", "idleTime": "3s"})


def postback() -> bytes:
    """A postback that is accepted; verifier would reject it."""
    return json.dumps({"version": "4.0", "ad-network-id": "example123.skadnetwork", "transaction-id": str(uuid.uuid4()),
                       "attribution-signature": "AA=="}).encode()


def request(fields: bytes = b"", body: bytes | None = None, *, line: bytes = b"POST /v1/postbacks HTTP/1.1",
            host: bytes = b"Host: edge.example\r\n", length: bool = True) -> bytes:
    """A request with its line, the host, the content type and, if `length`, the content length; `fields` are further header lines."""
    body = postback() if body is None else body
    stated = b"Content-Length: %d\r\n" % len(body) if length else b""
    return line + b"\r\n" + host + b"Content-Type: application/json\r\n" + stated + fields + b"\r\n" + body


def chunked(body: bytes, size: bytes | None = None) -> bytes:
    return (size or b"%x" % len(body)) + b"\r\n" + body + b"\r\n0\r\n\r\n"


def exchange(edge: IngestProcess, data: bytes) -> list:
    """All answers to these bytes until ingest closes the connection, which it does when the client half-closes it."""
    with RawConnection(edge.port) as connection:
        connection.send(data)
        return connection.answers_to_end()


def assert_served(edge: IngestProcess) -> None:
    status, body = edge.post("/v1/postbacks", postback())
    assert status == 200, body


# The same postback for all requests whose answer does not depend on it: its second delivery is a duplicate.
POSTBACK = postback()
LENGTH = len(POSTBACK)


def framed(fields: bytes, body: bytes = POSTBACK, **options: Any) -> bytes:
    return request(fields, body, length=False, **options)


def padded(size: int) -> bytes:
    body = postback()
    return body[:-1] + b" " * (size - len(body)) + b"}"
