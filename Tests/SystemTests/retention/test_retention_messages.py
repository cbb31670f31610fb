"""Approved messages: several instances of ingest query Apple as often as one instance."""

from __future__ import annotations

import pathlib
import time

from .steps import RULES
from .system import OFFER, PENDING, TEXT, RetentionSystem, realtime_request, wait


def shown(system: RetentionSystem, ingest: object) -> str | None:
    status, answer, _ = system.ask(realtime_request(productId="pending"), ingest=ingest)
    assert status == 200
    return answer.get("message", {}).get("messageIdentifier")


def test_several_instances_query_apple_as_often_as_one(tmp_path: pathlib.Path) -> None:
    system = RetentionSystem(tmp_path, RULES, {"messagesRefresh": "1s"}, ingests=3)
    with system:
        before = len(system.recovery.calls)
        began = time.monotonic()
        time.sleep(6)
        rounds = (len(system.recovery.calls) - before) / 2
        # Once a second for each of the two environments, and not three times.
        assert 2 <= rounds <= time.monotonic() - began + 2
        # All instances follow the answer that one of them got.
        assert {shown(system, ingest) for ingest in system.ingests} == {None}
        system.approve(OFFER, TEXT, PENDING, pending=())
        for ingest in system.ingests:
            wait(lambda ingest=ingest: shown(system, ingest) == PENDING)
        # If the list cannot be queried, the last answer is used, also by an instance that is restarted.
        system.recovery.answers["ListRetentionMessages"] = (503, {"code": "unavailable"})
        time.sleep(2)
        system.ingests[1].end()
        system.ingests[1].is_held = False
        system.ingests[1].start()
        wait(system.ingests[1].is_ready)
        for ingest in system.ingests:
            wait(lambda ingest=ingest: shown(system, ingest) == PENDING)


def test_a_message_is_chosen_only_with_approved_images_and_not_with_an_offer_if_it_has_one(tmp_path: pathlib.Path) -> None:
    system = RetentionSystem(tmp_path, RULES)

    def images(*messages: dict) -> None:
        system.recovery.answers["ListRetentionMessages"] = {"environment": "Sandbox", "messages": [
            {"messageState": "APPROVED", **message} for message in messages]}
        system.refreshed()

    with system:
        image = {"imageIdentifiers": ["0f9a3c62-8d1b-4c55-9a53-0e9d5d8f6f01"]}
        unapproved = {**image, "unapprovedImageIdentifiers": image["imageIdentifiers"]}
        text_answer = {"message": {"messageIdentifier": TEXT}}
        images({"messageIdentifier": TEXT, **unapproved}, {"messageIdentifier": OFFER})
        assert system.ask(realtime_request(productId="text"))[1] == {}
        images({"messageIdentifier": TEXT, **image}, {"messageIdentifier": OFFER})
        assert system.ask(realtime_request(productId="text"))[1] == text_answer
        assert "promotionalOffer" in system.ask(realtime_request(productId="offer-or-text"))[1]
        images({"messageIdentifier": TEXT, **image}, {"messageIdentifier": OFFER, **image})
        sent = realtime_request(productId="offer-or-text")
        assert system.ask(sent)[1] == text_answer
        decision = system.event(sent["requestIdentifier"])["data"]["decision"]
        assert decision["fallbacks"] == ["unapproved"] and decision["unapprovedMessages"] == [OFFER]
        # A decision service learns which messages have an image, and is refused an offer with one.
        offer = {"promotionalOffer": {"messageIdentifier": OFFER, "offerIdentifier": "own"}}
        system.decision_service.answers["DecideRetention"] = lambda _message: offer
        system.reload(RULES, {"url": system.decision_service.url, "timeout": "2s"})
        sent = realtime_request(productId="text")
        assert system.ask(sent)[1] == text_answer
        assert system.event(sent["requestIdentifier"])["data"]["decision"]["fallbacks"] == ["unapproved"]
        _, message, _ = system.decision_service.calls[-1]
        assert message["messageIdentifiersWithImage"] == sorted([TEXT, OFFER])
        system.reload(RULES)
        # An instance that has just started reads the list from Redis, with the messages that have an image.
        system.recovery.answers["ListRetentionMessages"] = (503, {"code": "unavailable"})
        system.ingest.end()
        system.ingest.is_held = False
        system.ingest.start()
        wait(system.ingest.is_ready)
        wait(lambda: system.ask(realtime_request(productId="offer-or-text"))[1] == text_answer)
