"""The budget of answers to requests for retention messages while nothing else answers, and messages before the first list of approved
ones."""

from __future__ import annotations

import concurrent.futures
import time

import pytest

from SystemTests.support.free_ports import free_port

from .outage_steps import TEXT_ANSWER, Absent, Suspended, fallbacks, in_time, recorded
from .steps import RULES
from .system import GERMAN, OFFER, RetentionSystem, ScriptedServer, realtime_request, wait


@pytest.mark.parametrize("how", ["hanging", "absent"])
def test_without_any_dependency_each_answer_is_in_time_and_has_its_event(timed, settings, how):
    processes = (timed.signer, timed.verifier, timed.redis)
    # No other test calls the decision service by this URL: its circuit breaker is closed.
    url = f"{timed.decision_service.url}/{how}" if how == "hanging" else f"http://127.0.0.1:{free_port()}"
    approved = timed.recovery.answers["ListRetentionMessages"]
    timed.decision_service.answers["DecideRetention"] = None
    settings({"url": url, "timeout": "150ms"})
    before = {cause: fallbacks(timed, cause) for cause in ("service", "signer", "history", "late")}
    # notification-recovery hangs in both, which does not matter as long as a list of messages is known.
    timed.recovery.answers["ListRetentionMessages"] = None
    try:
        with Suspended(*processes) if how == "hanging" else Absent(timed, *processes):
            # Only a busy machine leaves no time for the rule's text after calls that hang.
            given = [one for product in ("offer-or-text", "text") for one in in_time(timed, product, lambda answer: answer in (TEXT_ANSWER, {}))]
    finally:
        timed.recovery.answers["ListRetentionMessages"] = approved
        timed.recovery.released.set()
        timed.decision_service.released.set()
    decisions = recorded(timed, given)
    for (sent, answer), decision in zip(given, decisions, strict=True):
        offered = sent["productId"] == "offer-or-text"
        assert decision["fallbacks"] == (["late"] if answer == {} else ["service", "signer"] if offered else ["service"])
    assert any(decision["fallbacks"] != ["late"] for decision in decisions)
    for cause, count in before.items():
        assert fallbacks(timed, cause) - count == sum(cause in decision["fallbacks"] for decision in decisions), cause
    for sent, answer in given:
        assert timed.ask(sent)[1] == answer
    timed.recovery.released.clear()
    timed.decision_service.released.clear()


def test_the_budget_ends_a_call_of_verifier_whose_own_timeout_is_longer(timed, settings):
    settings(historyTimeout="1s")
    with Suspended(timed.verifier):
        given = in_time(timed, "history", lambda answer: answer in (TEXT_ANSWER, {}))
    for (_, answer), decision in zip(given, recorded(timed, given), strict=True):
        assert decision["fallbacks"] == (["history"] if answer else ["late"])


def test_the_check_of_the_budget_fails_if_answers_are_late(timed, settings):
    settings(budget="400ms", signerTimeout="1s")
    with Suspended(timed.signer), pytest.raises(AssertionError, match="late answers"):
        in_time(timed, "v2", lambda answer: answer == {})


def test_an_answer_that_is_not_decided_in_time_is_the_default_and_is_recorded_as_late(timed, settings):
    """Ingest itself is suspended while it waits for signer. When it continues, the ends of the call and of the budget are both past, and
    either may be noticed first. It is repeated until it was the budget."""
    settings(signerTimeout="1s")
    late = fallbacks(timed, "late")
    given: list[tuple[dict, dict]] = []
    with Suspended(timed.signer):
        while not any(answer == {} for _, answer in given):
            assert len(given) < 30, "no answer was late"
            given.append(answered_after_a_pause(timed, realtime_request(productId="offer-or-text")))
            assert given[-1][1] in (TEXT_ANSWER, {})
    decisions = recorded(timed, given)
    for (_, answer), decision in zip(given, decisions, strict=True):
        assert decision["fallbacks"] == (["signer"] if answer else ["late"])
        assert decision["kind"] == ("message" if answer else "default") and ("rule" in decision) == bool(answer)
    assert fallbacks(timed, "late") - late == sum(answer == {} for _, answer in given)
    # What is decided after the deadline replaces nothing, in no instance.
    for ingest in timed.ingests:
        for sent, answer in given:
            assert timed.ask(sent, ingest=ingest)[:2] == (200, answer)


def answered_after_a_pause(system, sent: dict) -> tuple[dict, dict]:
    """The request and its answer, from an ingest that does not run until the budget is over."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        answering = pool.submit(system.ask, sent)
        time.sleep(0.1)
        with Suspended(system.ingest):
            time.sleep(0.3)
        status, answer, _ = answering.result()
    assert status == 200
    return sent, answer


# --- before the first list of approved messages -----------------------------------------------------------------------


def test_unknown_messages_are_refused_or_trusted_until_the_first_list_arrives(tmp_path):
    running = RetentionSystem(tmp_path / "unlisted", RULES)
    port = running.recovery.port
    running.recovery.stop()
    with running:
        given = [(sent, running.ask(sent)[1]) for sent in (realtime_request(productId="text"), realtime_request(productId="v2"))]
        assert [answer for _, answer in given] == [{}, {}]
        for decision in recorded(running, given):
            assert decision["fallbacks"] == ["unapproved"]
        running.settings = {**running.settings, "unknownMessages": "trust"}
        running.reload(RULES)
        given = [(sent, running.ask(sent)[1]) for sent in (realtime_request(productId="text"), realtime_request(productId="v2"))]
        assert given[0][1] == TEXT_ANSWER and given[1][1]["promotionalOffer"]["messageIdentifier"] == OFFER
        assert all("fallbacks" not in decision for decision in recorded(running, given))
        # From the first list on, the setting has no effect.
        running.recovery = ScriptedServer(port)
        running.approve(GERMAN)
        wait(lambda: running.ask(realtime_request(productId="text"))[1] == {})
        sent = realtime_request(productId="text", userLocale="de-DE")
        assert running.ask(sent)[1] == {"message": {"messageIdentifier": GERMAN}}
        assert running.ask(realtime_request(productId="v2"))[1] == {}
