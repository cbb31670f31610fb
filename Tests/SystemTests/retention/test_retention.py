"""Requests of the App Store for retention messages, against the real executables: answers, their times, and their events."""

from __future__ import annotations

import base64
import concurrent.futures
import json
import time
import uuid

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from .steps import RULES, by_product
from .system import (
    ADVANCED,
    APP,
    GERMAN,
    MODIFY,
    OFFER,
    PATH,
    PENDING,
    PLAN,
    STRANGER,
    TEXT,
    RetentionSystem,
    metric,
    realtime_request,
    signed,
    wait,
)


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    running = RetentionSystem(tmp_path_factory.mktemp("retention"), RULES, ingests=2)
    with running:
        yield running


@pytest.fixture
def own(tmp_path):
    """A system whose parts a test may stop."""
    running = RetentionSystem(tmp_path / "own", RULES, ingests=2)
    with running:
        yield running


# --- the four answers -------------------------------------------------------------------------------------------------


def test_an_offer_is_signed_for_its_transaction_and_published_as_one_event(system):
    sent = realtime_request(productId="v2")
    status, answer, _ = system.ask(sent)
    assert status == 200 and set(answer) == {"promotionalOffer"}, answer
    assert set(answer["promotionalOffer"]) == {"messageIdentifier", "promotionalOfferSignatureV2"}
    assert answer["promotionalOffer"]["messageIdentifier"] == OFFER
    claims = system.claims(answer["promotionalOffer"]["promotionalOfferSignatureV2"])
    assert claims["transactionId"] == sent["originalTransactionId"] and claims["productId"] == "v2"
    assert claims["offerIdentifier"] == "stay" and claims["aud"] == "promotional-offer" and claims["bid"] == APP and "exp" not in claims
    event = system.event(sent["requestIdentifier"])
    assert event["subject"] == APP and event["id"] == f"retention:Sandbox:{sent['requestIdentifier']}"
    data = event["data"]
    assert data["answer"] == answer and data["request"] == sent and data["environment"] == "Sandbox"
    assert data["originalTransactionId"] == sent["originalTransactionId"] and data["source"] == "public"
    decision = data["decision"]
    assert decision["rule"] == "v2" and decision["kind"] == "promotionalOffer" and decision["keyId"] == "K1"
    assert decision["offerIdentifier"] == "stay" and decision["source"] == "rules" and "fallbacks" not in decision
    assert 0 <= decision["experiments"]["spring"] < 10_000


def test_an_offer_with_apples_first_signature_verifies(system):
    _, answer, _ = system.ask(realtime_request(productId="v1"))
    assert answer["promotionalOffer"]["messageIdentifier"] == OFFER
    one = answer["promotionalOffer"]["promotionalOfferSignatureV1"]
    assert set(one) == {"encodedSignature", "productId", "nonce", "timestamp", "keyId", "offerIdentifier", "appAccountToken"}
    assert one["productId"] == "yearly" and one["appAccountToken"] == "0f7b3e0a-7d3e-4e35-9c0c-0123456789ab"
    text = "\u2063".join([APP, "K1", "yearly", "stay", one["appAccountToken"], one["nonce"], str(one["timestamp"])])
    system.public_key().verify(base64.b64decode(one["encodedSignature"]), text.encode(), ec.ECDSA(hashes.SHA256()))


def test_rules_answer_with_a_message_an_alternate_product_or_an_advanced_commerce_offer(system):
    assert system.ask(realtime_request(productId="text"))[1] == {"message": {"messageIdentifier": TEXT}}
    assert system.ask(realtime_request(productId="text", userLocale="de-AT"))[1] == {"message": {"messageIdentifier": GERMAN}}
    assert system.ask(realtime_request(productId="plan"))[1] == {
        "alternateProduct": {"messageIdentifier": PLAN, "productId": "yearly", "billingPlanType": "MONTHLY"}}
    sent = realtime_request(productId="advanced")
    answer = system.ask(sent)[1]["advancedCommerceInfo"]
    assert answer["messageIdentifier"] == ADVANCED
    claims = system.claims(json.loads(base64.b64decode(answer["advancedCommerceData"]))["signatureInfo"]["token"])
    request = json.loads(base64.b64decode(claims["request"]))
    assert claims["aud"] == "advanced-commerce-api" and request["transactionId"] == sent["originalTransactionId"]
    assert request["requestInfo"]["requestReferenceId"] == sent["requestIdentifier"] and request["changeItems"] == MODIFY["changeItems"]


def test_without_a_matching_rule_the_app_store_shows_its_default(system):
    sent = realtime_request(productId="unheard of")
    assert system.ask(sent)[:2] == (200, {})
    decision = system.event(sent["requestIdentifier"])["data"]["decision"]
    assert decision["kind"] == "default" and "rule" not in decision


def test_rules_use_the_history_of_the_subscription(system):
    known = str(uuid.uuid4().int % 10 ** 15)
    system.notify(known)
    sent = realtime_request(productId="history", originalTransactionId=known)
    assert "promotionalOffer" in system.ask(sent)[1]
    assert system.event(sent["requestIdentifier"])["data"]["decision"]["state"] == "active"
    # This subscription has no history, and the facts of the following ones do not match the rule.
    assert system.ask(realtime_request(productId="history"))[1] == {"message": {"messageIdentifier": TEXT}}
    for other in ({"storefront": "USA"}, {"price": 10_000}, {"currency": "USD"}, {"subscriptionGroupIdentifier": "2"},
                  {"originalPurchaseDate": int(time.time() * 1000) - 86_400_000}):
        one = str(uuid.uuid4().int % 10 ** 15)
        system.notify(one, **other)
        assert "message" in system.ask(realtime_request(productId="history", originalTransactionId=one))[1], other


def test_an_experiment_splits_customers_the_same_way_each_time(system):
    found = {}
    for _ in range(40):
        one = realtime_request(productId="experiment")
        found[one["originalTransactionId"]] = next(iter(system.ask(one, ingest=system.ingests[0])[1]))
    assert set(found.values()) == {"promotionalOffer", "message"}
    for transaction, kind in found.items():
        again = realtime_request(productId="experiment", originalTransactionId=transaction)
        assert next(iter(system.ask(again, ingest=system.ingests[1])[1])) == kind


# --- what is refused --------------------------------------------------------------------------------------------------


def refused(system, body: bytes, path: str = PATH) -> tuple[int, str, str, list]:
    status, _, text = system.ingest.post(path, body)
    error = json.loads(text)
    reasons = [detail["debug"].get("reason") for detail in error.get("details", []) if detail.get("debug", {}).get("reason")]
    return status, error["code"], error["message"], reasons


def altered(body: bytes) -> bytes:
    head, payload, signature = json.loads(body)["signedPayload"].split(".")
    text = base64.urlsafe_b64decode(payload + "==").replace(b"Sandbox", b"sandbox")
    return json.dumps({"signedPayload": ".".join([head, base64.urlsafe_b64encode(text).rstrip(b"=").decode(), signature])}).encode()


def test_unverified_and_foreign_requests_are_refused_with_a_reason(system):
    now = int(time.time() * 1000)
    production = realtime_request(environment="Production", productId="text")
    cases = {
        "not JSON": (b"{", 400, "invalid_argument", ""), "no payload": (b"{}", 400, "invalid_argument", "signedPayload"),
        "not a JWS": (b'{"signedPayload":"a.b"}', 400, "invalid_argument", "malformed_jws"),
        "a stranger's": (signed(realtime_request(), STRANGER), 401, "unauthenticated", "chain_invalid"),
        "altered": (altered(signed(realtime_request())), 401, "unauthenticated", "bad_signature"),
        "another app's": (signed(production | {"appAppleId": 1}), 403, "permission_denied", "appAppleId"),
        "another app's, sandbox": (signed(realtime_request(appAppleId=1)), 403, "permission_denied", "appAppleId"),
        "another environment": (signed(realtime_request(environment="Xcode")), 403, "permission_denied", "environment"),
        "stale": (signed(realtime_request(signedDate=now - 3_600_000)), 403, "permission_denied", "signedDate"),
        "of the future": (signed(realtime_request(signedDate=now + 3_600_000)), 401, "unauthenticated", "chain_invalid"),
        "no request identifier": (signed(realtime_request(requestIdentifier=None)), 400, "invalid_argument", "requestIdentifier"),
        "no purchase": (signed(realtime_request(originalTransactionId=None)), 400, "invalid_argument", "originalTransactionId"),
        "no app, production": (signed(production | {"appAppleId": None}), 403, "permission_denied", "appAppleId"),
    }
    # Answers of other tests may not be events yet.
    system.wait_until_worked()
    before = len(system.decided())
    for name, (body, status, code, words) in cases.items():
        found = refused(system, body)
        assert found[:2] == (status, code) and words in found[2], (name, found)
    assert metric(system.ingest, 'attribution_retention_refused_total{reason="stale"}') >= 1
    assert metric(system.ingest, 'attribution_retention_refused_total{reason="bad_signature"}') >= 1
    for path in ("/v1/app-store/retention/com.example.other", "/v1/app-store/retention/", "/v1/app-store/retention"):
        assert system.ingest.post(path, signed(realtime_request()))[0] == 404
    assert system.ingest.post(PATH, signed(realtime_request()), "application/xml")[0] == 415
    # The right app id in both environments, and the sandbox's without one.
    assert system.ask(production)[:2] == (200, {"message": {"messageIdentifier": TEXT}})
    assert system.ask(realtime_request(productId="text", appAppleId=0))[0] == 200
    # What is not needed may be missing.
    for missing in ("appAppleId", "userLocale", "signedDate", "productId"):
        assert system.ask(realtime_request(**{"productId": "text", missing: None}))[0] == 200, missing
    # A client that sets no content type.
    assert system.ingest.post(PATH, signed(realtime_request()), "application/x-www-form-urlencoded")[0] == 200
    system.wait_until_worked()
    assert len(system.decided()) == before + 7


def test_a_message_that_is_not_approved_is_never_chosen(system):
    sent = realtime_request(productId="pending")
    assert system.ask(sent)[:2] == (200, {})
    decision = system.event(sent["requestIdentifier"])["data"]["decision"]
    assert decision["fallbacks"] == ["unapproved"] and decision["unapprovedMessages"] == [PENDING] and decision["rule"] == "pending"
    assert system.ask(realtime_request(productId="pending-or-text"))[1] == {"message": {"messageIdentifier": TEXT}}
    try:
        system.approve(OFFER, GERMAN, PLAN, ADVANCED, PENDING, pending=())
        system.refreshed()
        assert system.ask(realtime_request(productId="pending"))[1] == {"message": {"messageIdentifier": PENDING}}
        assert system.ask(realtime_request(productId="text"))[1] == {}
    finally:
        system.approve(OFFER, TEXT, GERMAN, PLAN, ADVANCED)
        system.refreshed()


# --- repetitions ------------------------------------------------------------------------------------------------------


def test_a_repeat_gets_the_same_answer_from_every_instance_and_makes_no_second_event(system):
    sent = realtime_request(productId="v2")
    answers = [system.ask(sent, ingest=system.ingests[number % 2])[1] for number in range(6)]
    # The signature has a nonce: the same bytes show that it is the same answer and not a new one.
    assert all(answer == answers[0] for answer in answers) and "promotionalOffer" in answers[0]
    assert system.event(sent["requestIdentifier"])["data"]["answer"] == answers[0]
    assert all(metric(ingest, "attribution_retention_replays_total") >= 1 for ingest in system.ingests)


def test_concurrent_repeats_get_the_same_answer(system):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            sent = realtime_request(productId="v2")
            body = signed(sent)
            answers = list(pool.map(lambda number, body=body: system.ingests[number % 2].post(PATH, body)[2], range(8)))
            event = system.event(sent["requestIdentifier"])
            later = system.ask(sent)[1]
            assert event["data"]["answer"] == later
            assert sum(json.loads(answer) == later for answer in answers) == len(answers)


# --- configuration ----------------------------------------------------------------------------------------------------


def test_sighup_loads_new_rules_and_a_wrong_rule_changes_nothing(own):
    answer = lambda: own.ask(realtime_request(productId="text"))[1]  # noqa: E731
    assert answer() == {"message": {"messageIdentifier": TEXT}}
    own.reload([by_product("text", {"message": GERMAN})])
    assert answer() == {"message": {"messageIdentifier": GERMAN}}
    own.reload([by_product("text", {"message": "no UUID"})], outcome="refused")
    assert answer() == {"message": {"messageIdentifier": GERMAN}}
    assert "apps[0].retention.rules[0].answers[0].message" in own.ingest.log()
    assert [metric(own.ingest, f'attribution_configuration_reloads_total{{outcome="{outcome}"}}') for outcome in ("applied", "refused")] == [1, 1]


def test_the_last_known_approvals_stay_valid_and_unknown_messages_are_refused(tmp_path):
    running = RetentionSystem(tmp_path / "first", RULES)
    running.recovery.answers["ListRetentionMessages"] = (503, {"code": "unavailable", "message": "no"})
    with running:
        assert running.ask(realtime_request(productId="text"))[1] == {}
        running.approve(TEXT)
        wait(lambda: running.ask(realtime_request(productId="text"))[1] == {"message": {"messageIdentifier": TEXT}})
        running.recovery.answers["ListRetentionMessages"] = (503, {"code": "unavailable", "message": "no"})
        running.refreshed()
        assert running.ask(realtime_request(productId="text"))[1] == {"message": {"messageIdentifier": TEXT}}
        # An instance that has just started reads it from Redis.
        running.ingest.end()
        running.ingest.is_held = False
        running.ingest.start()
        running.wait_until_ready(running.ingest)
        wait(lambda: running.ask(realtime_request(productId="text"))[1] == {"message": {"messageIdentifier": TEXT}})
