"""Requests for retention messages while a service or Redis hangs or is unreachable, and an app's own decision service."""

from __future__ import annotations

import uuid

from .outage_steps import SAID, Absent, Stopped, fallbacks, in_time, recorded
from .system import APP, GERMAN, OFFER, PENDING, PLAN, RetentionSystem, question

# --- dependencies that hang -------------------------------------------------------------------------------------------


def test_with_a_hanging_signer_the_answer_has_no_offer(timed):
    before = fallbacks(timed, "signer")
    with Stopped(timed.signer):
        text = in_time(timed, "offer-or-text", lambda answer: answer == SAID)
        nothing = in_time(timed, "v2", lambda answer: answer == {})
    with Absent(timed, timed.signer):
        absent = in_time(timed, "offer-or-text", lambda answer: answer == SAID)
    assert "promotionalOffer" in timed.ask(question(productId="v2"))[1]
    assert all(decision["fallbacks"] == ["signer"] for decision in recorded(timed, text + nothing + absent))
    assert fallbacks(timed, "signer") - before == len(text + nothing + absent)


def test_with_a_hanging_verifier_rules_that_need_the_history_are_skipped(timed):
    known = str(uuid.uuid4().int % 10 ** 15)
    timed.notify(known)
    with Stopped(timed.verifier):
        given = in_time(timed, "history", lambda answer: answer == SAID, originalTransactionId=known)
        # Requests that do not need it do not call it.
        assert "promotionalOffer" in timed.ask(question(productId="v2"))[1]
    for decision in recorded(timed, given):
        assert decision["fallbacks"] == ["history"] and decision["undecidedRules"] == ["loyal"]
    assert "promotionalOffer" in timed.ask(question(productId="history", originalTransactionId=known))[1]


def test_a_hanging_redis_loses_no_answer_and_no_event(timed):
    with Stopped(timed.redis):
        given = in_time(timed, "offer-or-text", lambda answer: "promotionalOffer" in answer, count=4)
        given += in_time(timed, "text", lambda answer: answer == SAID, count=2)
        # Without Redis the same instance still answers a repetition as before.
        for asked, answer in given:
            assert timed.ask(asked)[1] == answer
    recorded(timed, given)
    for asked, answer in given:
        assert timed.ask(asked)[1] == answer


def test_an_unreachable_redis_loses_no_answer_and_no_event(timed):
    with Absent(timed, timed.redis):
        given = in_time(timed, "offer-or-text", lambda answer: "promotionalOffer" in answer, count=3)
    assert all(decision["rule"] == "offer-or-text" for decision in recorded(timed, given))


# --- a decision service -----------------------------------------------------------------------------------------------


def test_a_decision_service_decides_and_the_rules_are_its_fallback(timed, settings):
    method = "DecideRetention"
    token = timed.folder / "decider-token"
    token.touch(0o600)
    token.write_text("a-token-for-decisions")
    service = {"url": timed.deciders.url, "timeout": "150ms", "tokenFile": str(token)}
    wanted = {"promotionalOffer": {"messageIdentifier": OFFER, "offerIdentifier": "own"}}
    timed.deciders.answers[method] = lambda _message: wanted
    settings(service, **RetentionSystem.PATIENT)
    known = str(uuid.uuid4().int % 10 ** 15)
    timed.notify(known)
    asked = question(productId="text", originalTransactionId=known, userLocale="de-DE")
    answer = timed.ask(asked)[1]
    assert timed.claims(answer["promotionalOffer"]["promotionalOfferSignatureV2"])["offerIdentifier"] == "own"
    assert timed.event(asked["requestIdentifier"])["data"]["decision"]["source"] == "service"
    name, message, headers = timed.deciders.calls[-1]
    assert name == method and headers["Authorization"] == "Bearer a-token-for-decisions"
    assert message["requestIdentifier"] == asked["requestIdentifier"] and message["bundleId"] == APP and message["userLocale"] == "de-DE"
    assert message["subscription"]["state"] == "active" and message["subscription"]["storefront"] == "DEU"
    assert OFFER in message["approvedMessageIdentifiers"] and PENDING not in message["approvedMessageIdentifiers"]

    for wanted, answer, causes in (
        ({"message": {"messageIdentifier": GERMAN}}, {"message": {"messageIdentifier": GERMAN}}, None),
        ({"alternateProduct": {"messageIdentifier": PLAN, "productId": "y"}},
         {"alternateProduct": {"messageIdentifier": PLAN, "productId": "y"}}, None),
        ({"defaultMessage": True}, {}, None), ({"rules": True}, SAID, None),
        ({"message": {"messageIdentifier": PENDING}}, SAID, ["unapproved"]), ({"message": {"messageIdentifier": "x"}}, SAID, ["service"]),
        ({}, SAID, ["service"]), ((503, {"code": "unavailable", "message": "no"}), SAID, ["service"]),
    ):
        asked = question(productId="text")
        assert timed.ask(asked)[1] == answer, wanted
        assert timed.event(asked["requestIdentifier"])["data"]["decision"].get("fallbacks") == causes, wanted

    # It hangs: the rules answer, and after some attempts it is not called for a while.
    timed.deciders.answers[method] = None
    in_time(timed, "text", lambda answer: answer == SAID, count=20)
    before = len(timed.deciders.calls)
    in_time(timed, "text", lambda answer: answer == SAID, count=5)
    assert len(timed.deciders.calls) <= before + 1
    timed.deciders.released.set()
    timed.deciders.released.clear()
