"""Sessions that tests send, and what the hosts got of them."""

import json
import time
import uuid


def new_identifier() -> str:
    return str(uuid.uuid4()).upper()


def post(system, install: str, idfa: str, status=None, **more):
    body = {"bundleId": "com.example.app", "installId": install, "idfa": idfa, "started_at": "2026-09-10T08:00:00Z",
            "parameters": {"copy": idfa.lower(), "link": f"https://example.com/?id={idfa.replace('-', '')}"}, **more}
    if status is not None:
        body["attStatus"] = status
    return system.post("/v1/sessions", body)


def put(system, install: str, status: int, **more):
    return system.post(f"/v1/sessions/{install}/att-status", {"bundleId": "com.example.app", "attStatus": status, **more},
                       method="PUT")


def received(system, install: str) -> list[dict]:
    return [entry for entry in system.control("/control/sessions?limit=100000")["sessions"]
            if entry["body"].get("installId") == install]


def wait_for(system, install: str, count: int, seconds: float = 15) -> list[dict]:
    until = time.monotonic() + seconds
    while len(entries := received(system, install)) < count and time.monotonic() < until:
        time.sleep(0.1)
    return entries


def holds(entry: dict, idfa: str) -> bool:
    text = json.dumps(entry).lower()
    return idfa.lower() in text or idfa.lower().replace("-", "") in text
