"""Steps of the tests of attributionctl on a running system, and a simulated terminal."""

import json
import uuid

from SystemTests.support.running_system import ROOT, System

APP = "com.example.app"
GENUINE = ROOT / "Deploy" / "genuine-postback.json"


def forged() -> dict:
    """An unsigned postback; each one is different."""
    return {**json.loads(GENUINE.read_text()), "transaction-id": str(uuid.uuid4())}


def names(system: System) -> list[str]:
    return [one["name"] for one in system.call("Events", "ListSubscriptions", {}).get("subscriptions", [])]
