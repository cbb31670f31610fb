"""Calls of the App Store Server API by RPC, and the requests that reached Apple."""

import json
import re
from typing import Any

from client import Answer
from SystemTests.support.running_system import System

APP = "com.example.app"


def story(system: System, *steps: str, environment: str = "Production", **more: Any) -> dict:
    """Purchases that neither send notifications nor appear in the history that recoveries of other tests read."""
    return system.control("/control/notifications/story", {
        "bundleId": APP, "environment": environment, "steps": [{"step": step, "history": False} for step in steps], "send": False, **more})


def ask(system: System, method: str, message: dict, key: str | None = None) -> Answer:
    """Calls notification-recovery for the app; `get` also requires success."""
    QUERIED.update(subscriptions(json.dumps(message)))
    return system.rpc("Recovery", method, {"bundleId": APP, **message}, key=key)


def get(system: System, method: str, message: dict, key: str | None = None) -> dict:
    answer = ask(system, method, message, key)
    assert answer.status == 200, (method, answer)
    return answer.json


# The subscriptions in the calls of these tests: `calls` ignores look-ups of gaps that other tests have left in the same system.
QUERIED = set()


def subscriptions(text: str) -> set[str]:
    return set(re.findall(r"\b\d{15}\b", text))


LISTS = ("/notifications/history", "/messaging/message/list", "/messaging/image/list")


def calls(system: System) -> list[dict]:
    """The calls to Apple, except look-ups of gaps of other tests, and the lists of messages and images that ingest requests by itself."""
    return [call for call in system.control("/control/app-store-calls?limit=100000")["calls"]
            if subscriptions(call["path"]) <= QUERIED and not call["path"].endswith(LISTS)]


def cause(answer: Answer) -> dict:
    """The project's cause of an error: its reason and its metadata."""
    for detail in answer.json.get("details", []):
        if detail["type"] == "google.rpc.ErrorInfo":
            return {"reason": detail["debug"]["reason"], **detail["debug"].get("metadata", {})}
    return {}
