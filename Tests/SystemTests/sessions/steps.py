"""Sessions that tests send, and the requests that the hosts received."""

import json
import time
import uuid
from typing import Any

from client import Answer
from SystemTests.support.running_system import System


def new_identifier() -> str:
    return str(uuid.uuid4()).upper()


def post(system: System, install: str, idfa: str, status: int | None = None, **more: Any) -> Answer:
    body = {"bundleId": "com.example.app", "installId": install, "idfa": idfa, "started_at": "2026-09-10T08:00:00Z",
            "parameters": {"copy": idfa.lower(), "link": f"https://example.com/?id={idfa.replace('-', '')}"}, **more}
    if status is not None:
        body["attStatus"] = status
    return system.post("/v1/sessions", body)


def put(system: System, install: str, status: Any, **more: Any) -> Answer:
    return system.post(f"/v1/sessions/{install}/att-status", {"bundleId": "com.example.app", "attStatus": status, **more},
                       method="PUT")


def received(system: System, install: str) -> list[dict]:
    return [entry for entry in system.control("/control/sessions?limit=100000")["sessions"]
            if entry["body"].get("installId") == install]


def wait_for(system: System, install: str, count: int, seconds: float = 15) -> list[dict]:
    until = time.monotonic() + seconds
    while len(entries := received(system, install)) < count and time.monotonic() < until:
        time.sleep(0.1)
    return entries


def holds(entry: dict, idfa: str) -> bool:
    text = json.dumps(entry).lower()
    return idfa.lower() in text or idfa.lower().replace("-", "") in text
