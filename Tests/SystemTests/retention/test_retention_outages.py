"""Requests for retention messages while a service or Redis hangs or is unreachable, and an app's own decision service."""

from __future__ import annotations

import uuid

from .outage_steps import TEXT_ANSWER, Absent, Suspended, fallbacks, in_time, recorded
from .system import APP, GERMAN, OFFER, PENDING, PLAN, RetentionSystem, realtime_request

# --- dependencies that hang -------------------------------------------------------------------------------------------


def test_with_a_hanging_signer_the_answer_has_no_offer(timed):
    before = fallbacks(timed, "signer")
    with Suspended(timed.signer):
        text = in_time(timed, "offer-or-text", lambda answer: answer == TEXT_ANSWER)
        nothing = in_time(timed, "v2", lambda answer: answer == {})
    with Absent(timed, timed.signer):
        absent = in_time(timed, "offer-or-text", lambda answer: answer == TEXT_ANSWER)
    assert "promotionalOffer" in timed.ask(realtime_request(productId="v2"))[1]
    assert all(decision["fallbacks"] == ["signer"] for decision in recorded(timed, text + nothing + absent))
    assert fallbacks(timed, "signer") - before == len(text + nothing + absent)


def test_with_a_hanging_verifier_rules_that_need_the_history_are_skipped(timed):
    known = str(uuid.uuid4().int % 10 ** 15)
    timed.notify(known)
    with Suspended(timed.verifier):
        given = in_time(timed, "history", lambda answer: answer == TEXT_ANSWER, originalTransactionId=known)
        # Requests that do not need it do not call it.
        assert "promotionalOffer" in timed.ask(realtime_request(productId="v2"))[1]
    for decision in recorded(timed, given):
        assert decision["fallbacks"] == ["history"] and decision["undecidedRules"] == ["loyal"]
    assert "promotionalOffer" in timed.ask(realtime_request(productId="history", originalTransactionId=known))[1]


def test_a_hanging_redis_loses_no_answer_and_no_event(timed):
    with Suspended(timed.redis):
        given = in_time(timed, "offer-or-text", lambda answer: "promotionalOffer" in answer, count=4)
        given += in_time(timed, "text", lambda answer: answer == TEXT_ANSWER, count=2)
        # Without Redis the same instance still answers a repetition as before.
        for sent, answer in given:
            assert timed.ask(sent)[1] == answer
    recorded(timed, given)
    for sent, answer in given:
        assert timed.ask(sent)[1] == answer


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
    service = {"url": timed.decision_service.url, "timeout": "150ms", "tokenFile": str(token)}
    wanted = {"promotionalOffer": {"messageIdentifier": OFFER, "offerIdentifier": "own"}}
    timed.decision_service.answers[method] = lambda _message: wanted
    settings(service, **RetentionSystem.LONG_TIMEOUTS)
    known = str(uuid.uuid4().int % 10 ** 15)
    timed.notify(known)
    sent = realtime_request(productId="text", originalTransactionId=known, userLocale="de-DE")
    answer = timed.ask(sent)[1]
    assert timed.claims(answer["promotionalOffer"]["promotionalOfferSignatureV2"])["offerIdentifier"] == "own"
    assert timed.event(sent["requestIdentifier"])["data"]["decision"]["source"] == "service"
    name, message, headers = timed.decision_service.calls[-1]
    assert name == method and headers["Authorization"] == "Bearer a-token-for-decisions"
    assert message["requestIdentifier"] == sent["requestIdentifier"] and message["bundleId"] == APP and message["userLocale"] == "de-DE"
    assert message["subscription"]["state"] == "active" and message["subscription"]["storefront"] == "DEU"
    assert OFFER in message["approvedMessageIdentifiers"] and PENDING not in message["approvedMessageIdentifiers"]

    for wanted, answer, causes in (
        ({"message": {"messageIdentifier": GERMAN}}, {"message": {"messageIdentifier": GERMAN}}, None),
        ({"alternateProduct": {"messageIdentifier": PLAN, "productId": "y"}},
         {"alternateProduct": {"messageIdentifier": PLAN, "productId": "y"}}, None),
        ({"defaultMessage": True}, {}, None), ({"rules": True}, TEXT_ANSWER, None),
        ({"message": {"messageIdentifier": PENDING}}, TEXT_ANSWER, ["unapproved"]),
        ({"message": {"messageIdentifier": "x"}}, TEXT_ANSWER, ["service"]),
        ({}, TEXT_ANSWER, ["service"]), ((503, {"code": "unavailable", "message": "no"}), TEXT_ANSWER, ["service"]),
    ):
        sent = realtime_request(productId="text")
        assert timed.ask(sent)[1] == answer, wanted
        assert timed.event(sent["requestIdentifier"])["data"]["decision"].get("fallbacks") == causes, wanted

    # It hangs: the rules answer, and after some attempts it is not called for a while.
    timed.decision_service.answers[method] = None
    in_time(timed, "text", lambda answer: answer == TEXT_ANSWER, count=20)
    before = len(timed.decision_service.calls)
    in_time(timed, "text", lambda answer: answer == TEXT_ANSWER, count=5)
    assert len(timed.decision_service.calls) <= before + 1
    timed.decision_service.released.set()
    timed.decision_service.released.clear()
