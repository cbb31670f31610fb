"""Fills a system with sample data for its console within seconds: about as much as on a usual day.

    PYTHONPATH=Tests:Deploy python3 -m SystemTests.console.sample_data --data DIR --port-base N      fills a system that Deploy/up has started

Counters of the past are written into Redis; all other data is created as in production.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import subprocess
import time
import uuid

from client import System

NETWORK, APP, BUNDLE = "example123.skadnetwork", 525463029, "com.example.app"
SKADNETWORK, ADATTRIBUTIONKIT = "skadnetwork-postback", "adattributionkit-postback"


class Redis:
    """Sends commands to a system's Redis, many at a time."""

    def __init__(self, system: System) -> None:
        self.command = ["redis-cli", "-p", str(system.port_base + 18), "--no-auth-warning", "-a",
                        (system.data / "redis-password").read_text().strip()]

    def all(self, commands: list[list[object]]) -> None:
        def quoted(word: object) -> str:
            return '"' + str(word).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

        lines = "\n".join(" ".join(quoted(word) for word in command) for command in commands)
        answer = subprocess.run(self.command, input=lines + "\n", check=True, capture_output=True, text=True).stdout
        assert "ERR" not in answer, answer[:500]


def counter(period: str, kind: str, number: int) -> str:
    """The key of the counters of a minute or an hour; `number` is that of the minute or hour since 1970."""
    return f"{{attr:{number % 256:03d}}}:verifier:counts:{period}:{kind}:{number}"


def past_counters(system: System, seed: int = 7) -> None:
    """Counters of a week: more by day than by night, and many forgeries about twenty minutes ago."""
    chance = random.Random(seed)
    commands: list[list[object]] = []
    now = int(time.time())

    def add(period: str, number: int, seconds: int, age: float) -> None:
        key = counter(period, "ends", number)
        share = (0.55 + 0.45 * chance.random()) * seconds / 60
        wave = 8 if period == "minute" and 1100 < age < 1500 else 1
        ends = {
            (SKADNETWORK, "verified", ""): 46 * share, (SKADNETWORK, "duplicate", ""): 5 * share,
            (SKADNETWORK, "rejected", "bad_signature"): 1.2 * share * wave, (SKADNETWORK, "rejected", "malformed"): 0.5 * share,
            (ADATTRIBUTIONKIT, "verified", ""): 21 * share, (ADATTRIBUTIONKIT, "rejected", "unknown_key"): 0.4 * share * wave,
            ("notification", "verified", ""): 33 * share, ("notification", "duplicate", ""): 4 * share,
            ("notification", "rejected", "wrong_app"): 0.3 * share, ("adservices-token", "done", ""): 18 * share,
            ("session", "done", ""): 27 * share}
        # A fraction is the probability of one more.
        whole = {end: int(count) + (chance.random() < count % 1) for end, count in ends.items()}
        commands.append(["HSET", key, "past", "".join(
            f"d|{kind}|{verdict}|{reason} {count}\n" for (kind, verdict, reason), count in whole.items() if count)])
        commands.append(["EXPIRE", key, 86_400 * 8])

    for back in range(360):
        add("minute", now // 60 - back, 60, back * 60)
    for back in range(168):
        add("hour", now // 3600 - back, 3600, back * 3600)
    for back in range(24):
        key = counter("hour", "values", now // 3600 - back)
        values = {f"f|{APP}|{value}": 140 * (1 + 4 * (value in (0, 5, 12, 20, 42))) / (1 + value / 14) for value in range(64)}
        values |= {f"c|{APP}|low": 310, f"c|{APP}|medium": 190, f"c|{APP}|high": 65, f"n|{APP}|": 220}
        values |= {f"s|{NETWORK}|{digits}": count for digits, count in {
            "39": 310, "239": 160, "5239": 240, "1239": 70, "17": 120, "417": 60, "8417": 90, "02": 45}.items()}
        values |= {f"t|{BUNDLE}|{type}": count for type, count in {
            "DID_RENEW": 420, "SUBSCRIBED": 130, "DID_CHANGE_RENEWAL_STATUS": 90, "EXPIRED": 40, "REFUND": 6}.items()}
        commands.append(["HSET", key, "past", "".join(f"{field} {int(count * chance.random())}\n" for field, count in values.items())])
        commands.append(["EXPIRE", key, 86_400 * 8])
    Redis(system).all(commands)


def dead_letters(system: System) -> list[str]:
    """Creates three dead letters; returns their ids."""
    now = int(time.time() * 1000)
    letters = [
        ("gaps", "gap", 5, 5_400_000, "the App Store Server API answers 401: its key was not accepted",
         [(30_000, "the App Store Server API answers 503"), (300_000, "the App Store Server API answers 503"),
          (1_800_000, "the App Store Server API answers 401: its key was not accepted")]),
        ("sessions", "session", 8, 86_400_000, "no host took it within 3 days",
         [(5_000, "the host answered 502"), (600_000, "the host answered 502")]),
        ("intake", SKADNETWORK, 4, 900_000, "its worker ended 4 times without finishing it", []),
    ]
    ids, commands = [], []
    for index, (queue, kind, attempts, life, error, history) in enumerate(letters):
        received = now - life - 120_000
        lines = [(received + after, text) for after, text in history] + [(received + life, error)]
        ids.append(f"{17 + index:03d}-{uuid.uuid4().hex}")
        commands.append([
            "XADD", f"{{attr:{17 + index:03d}}}:q:{queue}:dead", "*", "i", ids[-1], "k", kind, "b", "x", "a",
            json.dumps({"r": received, "s": "public"}), "n", attempts, "h", "".join(f"{time} {text}\n" for time, text in lines), "x", error,
            "d", received + life])
    Redis(system).all(commands)
    return ids


def life_cycle(system: System, *steps: str | dict) -> list[dict]:
    """The notifications of a subscription, oldest first."""
    return system.control("/control/notifications/story", {
        "bundleId": BUNDLE, "environment": "Production", "steps": list(steps), "send": True})["notifications"]


def receipt(original: str) -> dict:
    """An answer of verifyReceipt."""
    return {"status": 0, "environment": "Production", "receipt": {"bundle_id": BUNDLE, "in_app": []},
            "latest_receipt_info": [{"original_transaction_id": original, "transaction_id": original, "product_id": "p"}]}


def create_sample_data(system: System) -> list[str]:
    """Creates the data; returns the ids of the dead letters."""
    past_counters(system)
    ids = dead_letters(system)
    for name, types in [("analytics", []), ("attribution-warehouse", ["attribution.skadnetwork.postback.verified.v1"]),
                        ("entitlements", ["appstore.notification.verified.v1"])]:
        system.call("Events", "CreateSubscription", {"name": name, "types": types})
    system.call("Events", "CreateSubscription", {
        "name": "partner-hook", "types": ["attribution.skadnetwork.postback.verified.v1"],
        "push": {"url": "https://hooks.example.com/attribution/6f1c", "ordered": True}})
    for number in range(12):
        made = system.control("/control/skadnetwork/postbacks", {
            "transactionId": str(uuid.uuid4()), "adNetworkId": NETWORK, "version": "4.0", "appId": APP, "sourceIdentifier": "5239",
            "conversionValue": number * 5, "send": False})["body"]
        assert system.post("/v1/postbacks", made).status == 200
    # Subscriptions with a missing step: the first one is in Apple's history, the second is in none.
    unsent, unknown = {"send": False}, {"send": False, "history": False}
    story = life_cycle(system, "buy", {"step": "cancel", **unsent}, "expire")
    life_cycle(system, "buy", {"step": "renew", **unknown}, "refund-declined")
    now = int(time.time())

    def stamp(back: int) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - back))

    for first, last in [(86_400, 82_800), (7200, 3600)]:
        system.call("Recovery", "StartRecovery", {
            "bundleId": BUNDLE, "environment": "Production", "startDate": stamp(first), "endDate": stamp(last)}, key=uuid.uuid4().hex)
    system.call("Recovery", "MigrateReceipts", {
        "bundleId": BUNDLE, "migrationId": "from-verify-receipt", "receipts": [
            {"id": "known", "verifyReceiptResponse": receipt(story[0]["originalTransactionId"])},
            {"id": "unknown", "verifyReceiptResponse": receipt("999999999999999")}]}, key=uuid.uuid4().hex)
    caught_up = [uuid.uuid4().hex]
    while caught_up:
        answer = system.call("Events", "PullEvents", {"subscription": "analytics", "maxEvents": 100, "waitMilliseconds": 500})
        caught_up = [event["ackId"] for event in answer.get("events", [])]
        if caught_up:
            system.call("Events", "AcknowledgeEvents", {"subscription": "analytics", "ackIds": caught_up})
    return ids


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--port-base", type=int, default=8080)
    options = parser.parse_args()
    print("\n".join(create_sample_data(System(options.data, options.port_base))))
