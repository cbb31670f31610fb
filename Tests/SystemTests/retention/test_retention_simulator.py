"""The simulated App Store requests retention messages from the running system: it finds no problem in the answers, runs its performance
test, and its forgeries are refused. The example of a decision service also conforms to the contract."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import uuid

import pytest

from SystemTests.support.free_ports import free_port
from SystemTests.support.running_system import ROOT

from .system import wait

APP = "com.example.app"
METHOD = "/attribution.retention.v1.RetentionDecisionService/DecideRetention"


MESSAGES = {f"2c9a6a1e-6a0e-4c63-9d54-5f1b6f1f000{number}": f"Text {number}" for number in (1, 2, 3)}


@pytest.fixture(scope="module", autouse=True)
def messages(system):
    """The messages that the rules of the development configuration name are approved, and ingest knows it."""
    system.have_retention_messages(APP, MESSAGES)
    wait(lambda: bool(ask(system).get("answer")))


def ask(system, **more) -> dict:
    return system.control("/control/retention/requests", {
        "bundleId": APP, "environment": "Sandbox", "url": system.retention_url(APP), **more})


def customer(system) -> tuple[str, str]:
    """A subscription whose beginning the system knows: its id and its product."""
    story = system.control("/control/notifications/story", {"bundleId": APP, "environment": "Sandbox", "steps": ["buy"], "send": True})
    found = {}

    def is_known() -> bool:
        answer = system.rpc("Verifier", "GetSubscriptionState", {
            "originalTransactionId": story["originalTransactionId"], "environment": "Sandbox", "brief": True})
        found.update(answer.json)
        return answer.status == 200

    wait(is_known)
    assert found["state"] == "active" and found["storefront"] == "USA" and found["subscriptionGroupIdentifier"] and "notifications" not in found
    return story["originalTransactionId"], found["productId"]


def test_the_simulated_app_store_accepts_the_answers_and_each_is_one_event(system):
    feed = system.subscribe(["appstore.retention.decided.v1"])
    known, product = customer(system)
    # On a busy machine signer may take longer than 150 ms; then ingest answers with the rule's next answer, a message.
    offers: list[dict] = []
    while len(offers) < 20 and not (offers and "promotionalOffer" in offers[-1]["answer"]):
        offers.append(ask(system, originalTransactionId=known, fields={"productId": product}))
    offered = offers[-1]
    text_answer = ask(system, fields={"userLocale": "de_CH"})
    assert offered["status"] == text_answer["status"] == 200 and offered["problems"] == text_answer["problems"] == []
    assert set(offered["answer"]) == {"promotionalOffer"} and set(text_answer["answer"]) == {"message"}
    events = {event["data"]["requestIdentifier"]: event["data"] for event in feed.wait_for(len(offers) + 1)}
    assert events[offered["request"]["requestIdentifier"]]["answer"] == offered["answer"]
    assert all(events[one["request"]["requestIdentifier"]]["decision"]["fallbacks"] == ["signer"] for one in offers[:-1])
    assert events[text_answer["request"]["requestIdentifier"]]["decision"]["rule"] == "everybody"
    feed.delete()


@pytest.mark.parametrize("forge", ["stranger", "unmarked", "altered", "signature"])
def test_a_forged_retention_request_is_refused(system, forge):
    result = ask(system, forge=forge)
    assert result["status"] == 401 and result["sendAttemptResult"] == "UNSUCCESSFUL_HTTP_RESPONSE_CODE", result


def test_the_performance_test_passes_and_fails_for_another_url(system):
    known, product = customer(system)
    parameters = {"bundleId": APP, "originalTransactionId": known, "fields": {"productId": product}, "totalRequests": 60, "totalDuration": 600,
             "maxConcurrentRequests": 8, "responseTimeThreshold": 5000}
    result = system.control("/control/retention/performance", {**parameters, "url": system.retention_url(APP)})
    assert result["result"] == "PASS" and result["successRate"] == 100 and result["failures"] == {}, result
    assert 0 < result["responseTimes"]["p50"] <= result["responseTimes"]["p99"]
    unknown_app = system.public + "/v1/app-store/retention/other"
    result = system.control("/control/retention/performance", {**parameters, "totalRequests": 5, "url": unknown_app})
    assert result["result"] == "FAIL" and result["failures"] == {"UNSUCCESSFUL_HTTP_RESPONSE_CODE": 5}, result


def test_a_url_is_accepted_in_production_only_after_its_performance_test_passed(system):
    def call(method: str, **fields):
        return system.rpc("Retention", method, {"bundleId": APP, **fields}, key=str(uuid.uuid4()))

    known, _ = customer(system)
    url = f"https://ads.example.com/v1/app-store/retention/{APP}"
    assert call("SetRetentionURL", environment="Sandbox", realtimeUrl=url).status == 200
    assert call("SetRetentionURL", environment="Production", realtimeUrl=url).status == 400
    system.control("/control/retention", {
        "bundleId": APP, "environment": "Sandbox", "reach": system.public, "totalRequests": 40, "totalDuration": 400})
    started = call("StartRetentionPerformanceTest", originalTransactionId=known)
    assert started.status == 200 and started.json["response"]["config"]["totalRequests"] == 40, started
    result = {}

    def is_over() -> bool:
        result.update(call("GetRetentionPerformanceTest", requestId=started.json["requestId"]).json)
        return result["result"] != "PENDING"

    wait(is_over)
    # The machine that runs the tests may be slow; answers in time must be correct.
    assert set(result["response"]["failures"]) <= {"TIMED_OUT"}, result
    if result["result"] == "PASS":
        assert result["response"]["successRate"] >= 95 and result["response"]["responseTimes"]["p50"] > 0
        assert call("SetRetentionURL", environment="Production", realtimeUrl=url).status == 200
    system.control("/control/retention", {"bundleId": APP, "environment": "Sandbox", "reach": ""})
    for environment in ("Sandbox", "Production"):
        call("DeleteRetentionURL", environment=environment)


def test_the_example_decision_service_follows_the_contract(tmp_path):
    token = tmp_path / "token"
    token.write_text("a-token-for-decisions\n")
    port = free_port()
    process = subprocess.Popen([sys.executable, ROOT / "Examples" / "retention" / "decide.py", str(port), token])

    def decide(message: dict, path: str = METHOD, bearer: str = "a-token-for-decisions") -> tuple[int, dict]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("POST", path, json.dumps(message), {"Authorization": f"Bearer {bearer}", "Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def is_there() -> bool:
        try:
            return decide({})[0] == 200
        except OSError:
            return False

    try:
        wait(is_there)
        offer = "2c9a6a1e-6a0e-4c63-9d54-5f1b6f1f0001"
        leaving = {"requestIdentifier": str(uuid.uuid4()), "subscription": {"state": "active-not-renewing"}, "approvedMessageIdentifiers": [offer]}
        assert decide(leaving) == (200, {"promotionalOffer": {"messageIdentifier": offer, "offerIdentifier": "come_back"}})
        assert decide({**leaving, "approvedMessageIdentifiers": []}) == (200, {"rules": True}) == decide({})
        assert decide(leaving, bearer="another")[0] == 401 and decide(leaving, path="/other")[0] == 404
    finally:
        process.kill()
        process.wait()
