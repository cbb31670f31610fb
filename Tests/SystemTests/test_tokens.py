"""AdServices tokens: Apple's answers, one by one, through the whole system."""

import json
import time
import uuid

import pytest
from conftest import VECTORS

RESOLVED, FAILED = "attribution.adservices.resolved.v1", "attribution.adservices.failed.v1"
STATES = {"attributed": "attributed", "not-attributed": "not_attributed", "test": "not_attributed", "not-found": "failed",
          "invalid-token": "invalid"}
CASES = json.loads((VECTORS / "appstore/adservices.json").read_text())


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def scripted(system, answers: list[dict]) -> str:
    token = f"{uuid.uuid4().hex}{uuid.uuid4().hex}"
    system.control("/control/adservices/tokens", {"token": token, "answers": answers})
    return token


def calls(system, token: str) -> list[dict]:
    return next(entry for entry in system.control("/control/adservices/tokens")["tokens"] if entry["token"] == token)["calls"]


@pytest.mark.parametrize("case", [case for case in CASES if case["id"] != "500-later"], ids=lambda case: case["id"])
def test_each_vector_ends_as_it_says_with_one_event(system, case):
    feed = system.subscribe([RESOLVED, FAILED])
    token = scripted(system, case["responses"])
    exchange = system.call("Broker", "ExchangeToken", {
        "token": token, "bundleId": "com.example.app", "attStatus": 3, "requestedAt": stamp(time.time() - 30),
        "installId": uuid.uuid4().hex, "waitMilliseconds": 30000})
    expect = case["expect"]
    assert exchange["state"] == STATES[expect["outcome"]], exchange
    assert len(calls(system, token)) == expect.get("calls", expect.get("fastCalls"))
    if "payload" in expect:
        assert exchange["detail"] == expect["payload"]
    events = feed.wait_for(1)
    assert len(events) == 1
    assert events[0]["type"] == (RESOLVED if expect["outcome"] in ("attributed", "not-attributed", "test") else FAILED)
    assert token not in json.dumps(events)
    if expect["outcome"] == "test":
        assert exchange["test"] is True and "record" not in exchange and "record" not in events[0]["data"]
    feed.delete()


def test_after_a_failure_apple_is_asked_later_not_at_once(system):
    token = scripted(system, [{"status": 500}, {"status": 200, "body": {"attribution": False}}])
    exchange = system.call("Broker", "ExchangeToken", {
        "token": token, "bundleId": "com.example.app", "requestedAt": stamp(time.time() - 30), "waitMilliseconds": 800})
    assert exchange["state"] == "pending"
    assert len(calls(system, token)) == 1
    assert system.call("Broker", "GetExchange", {"exchangeId": exchange["exchangeId"]})["state"] in ("pending", "not_attributed")


def test_a_token_is_one_exchange_as_text_as_json_and_by_rpc(system):
    feed = system.subscribe([RESOLVED, FAILED])
    token = scripted(system, [{"status": 200, "body": {"attribution": False}}])
    query = f"?bundleId=com.example.app&installId=i-1&attStatus=0&requestedAt={stamp(time.time() - 30)}"
    text = system.post("/v1/adservices/tokens/" + query, f" {token}\n", content_type="text/plain")
    assert text.status == 202 and text.json["status"] == "accepted", text
    again = system.post("/v1/adservices/tokens", {"token": token, "bundleId": "com.example.app"})
    assert again.status == 202 and again.json == {"id": text.json["id"], "status": "duplicate"}
    exchange = system.call("Broker", "ExchangeToken", {"token": token, "bundleId": "com.example.app", "waitMilliseconds": 10000})
    assert exchange["exchangeId"] == text.json["id"] and exchange["state"] == "not_attributed"
    assert len(feed.wait_for(1, settle=1)) == 1 and len(calls(system, token)) == 1
    for name in ("ingest", "asa-token-broker"):
        assert token not in system.log(name)
    feed.delete()


def test_detail_without_authorization_is_flagged_and_its_times_go_no_further(system):
    record = {"attribution": True, "orgId": 1, "campaignId": 2, "adGroupId": 3, "claimType": "Click", "clickDate": "2026-10-08T17:17Z"}
    for status, shown in ((3, True), (2, False), (None, False)):
        token = scripted(system, [{"status": 200, "body": record}])
        message = {"token": token, "bundleId": "com.example.app", "requestedAt": stamp(time.time() - 30), "waitMilliseconds": 10000}
        if status is not None:
            message["attStatus"] = status
        exchange = system.call("Broker", "ExchangeToken", message)
        assert exchange["detail"] == "detailed"
        assert ("clickDate" in exchange["record"]) == shown and ("clickDate" in exchange["record"]["raw"]) == shown
        assert exchange.get("attMismatch", False) == (status == 2)
