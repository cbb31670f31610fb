"""Steps that the tests of traces share."""

from __future__ import annotations

import http.client
import pathlib
import secrets

from SystemTests.support.bare_service import BareService

SIGNER = "attribution.signer.v1.SignerService"
SECRET = "a-secret-that-must-not-be-told"
# The ids of traces that callers of these tests record.
followed_traces: set[str] = set()


def parent(sampled: bool = True) -> tuple[str, str]:
    """A caller's `traceparent` and the id of its trace."""
    trace = secrets.token_hex(16)
    if sampled:
        followed_traces.add(trace)
    return f"00-{trace}-{secrets.token_hex(8)}-0{int(sampled)}", trace


def signer(folder: pathlib.Path, settings: str = "", **variables: str) -> BareService:
    return BareService(folder, "signer", settings, ATTRIBUTION_OPEN="1", **variables)


def call(service: BareService, header: str | None = None) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)
    try:
        headers = {"Content-Type": "application/json"} | ({"traceparent": header} if header else {})
        connection.request("POST", f"/{SIGNER}/ListSigningKeys", "{}", headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()
