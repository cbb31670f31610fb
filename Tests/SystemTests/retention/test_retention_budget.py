"""The budget of answers to requests for retention messages while nothing else answers, and messages before the first list of approved ones."""

from __future__ import annotations

import concurrent.futures
import time

import pytest

from SystemTests.support.free_ports import free_port

from .outage_steps import SAID, Absent, Stopped, fallbacks, in_time, recorded
from .steps import RULES
from .system import GERMAN, OFFER, Player, RetentionSystem, question, wait


@pytest.mark.parametrize("how", ["hanging", "absent"])
def test_without_any_dependency_each_answer_is_in_time_and_has_its_event(timed, settings, how):
    processes = (timed.signer, timed.verifier, timed.redis)
    # No other test calls the decision service by this URL: its circuit breaker is closed.
    url = f"{timed.deciders.url}/{how}" if how == "hanging" else f"http://127.0.0.1:{free_port()}"
    approved = timed.recovery.answers["ListRetentionMessages"]
    timed.deciders.answers["DecideRetention"] = None
    settings({"url": url, "timeout": "150ms"})
    before = {cause: fallbacks(timed, cause) for cause in ("service", "signer", "history", "late")}
    # notification-recovery hangs in both, which does not matter as long as a list of messages is known.
    timed.recovery.answers["ListRetentionMessages"] = None
    try:
        with Stopped(*processes) if how == "hanging" else Absent(timed, *processes):
            # Only a busy machine leaves no time for the rule's text after calls that hang.
            given = [one for product in ("offer-or-text", "text") for one in in_time(timed, product, lambda answer: answer in (SAID, {}))]
    finally:
        timed.recovery.answers["ListRetentionMessages"] = approved
        timed.recovery.released.set()
        timed.deciders.released.set()
    decisions = recorded(timed, given)
    for (asked, answer), decision in zip(given, decisions, strict=True):
        offered = asked["productId"] == "offer-or-text"
        assert decision["fallbacks"] == (["late"] if answer == {} else ["service", "signer"] if offered else ["service"])
    assert any(decision["fallbacks"] != ["late"] for decision in decisions)
    for cause, count in before.items():
        assert fallbacks(timed, cause) - count == sum(cause in decision["fallbacks"] for decision in decisions), cause
    for asked, answer in given:
        assert timed.ask(asked)[1] == answer
    timed.recovery.released.clear()
    timed.deciders.released.clear()


def test_the_budget_ends_a_call_of_verifier_whose_own_timeout_is_longer(timed, settings):
    settings(historyTimeout="1s")
    with Stopped(timed.verifier):
        given = in_time(timed, "history", lambda answer: answer in (SAID, {}))
    for (_, answer), decision in zip(given, recorded(timed, given), strict=True):
        assert decision["fallbacks"] == (["history"] if answer else ["late"])


def test_the_check_of_the_budget_fails_if_answers_are_late(timed, settings):
    settings(budget="400ms", signerTimeout="1s")
    with Stopped(timed.signer), pytest.raises(AssertionError, match="late answers"):
        in_time(timed, "v2", lambda answer: answer == {})


def test_an_answer_that_is_not_decided_in_time_is_the_default_and_is_recorded_as_late(timed, settings):
    """Ingest itself is suspended while it waits for signer. When it continues, the ends of the call and of the budget are both past, and either
    may be noticed first. It is repeated until it was the budget."""
    settings(signerTimeout="1s")
    late = fallbacks(timed, "late")
    given: list[tuple[dict, dict]] = []
    with Stopped(timed.signer):
        while not any(answer == {} for _, answer in given):
            assert len(given) < 30, "no answer was late"
            given.append(answered_after_a_pause(timed, question(productId="offer-or-text")))
            assert given[-1][1] in (SAID, {})
    decisions = recorded(timed, given)
    for (_, answer), decision in zip(given, decisions, strict=True):
        assert decision["fallbacks"] == (["signer"] if answer else ["late"])
        assert decision["kind"] == ("message" if answer else "default") and ("rule" in decision) == bool(answer)
    assert fallbacks(timed, "late") - late == sum(answer == {} for _, answer in given)
    # What is decided after the deadline replaces nothing, in no instance.
    for ingest in timed.ingests:
        for asked, answer in given:
            assert timed.ask(asked, ingest=ingest)[:2] == (200, answer)


def answered_after_a_pause(system, asked: dict) -> tuple[dict, dict]:
    """The request and its answer, from an ingest that does not run until the budget is over."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asking = pool.submit(system.ask, asked)
        time.sleep(0.1)
        with Stopped(system.ingest):
            time.sleep(0.3)
        status, answer, _ = asking.result()
    assert status == 200
    return asked, answer


# --- before the first list of approved messages -----------------------------------------------------------------------


def test_unknown_messages_are_refused_or_trusted_until_the_first_list_arrives(tmp_path):
    running = RetentionSystem(tmp_path / "unlisted", RULES)
    port = running.recovery.port
    running.recovery.stop()
    with running:
        given = [(asked, running.ask(asked)[1]) for asked in (question(productId="text"), question(productId="v2"))]
        assert [answer for _, answer in given] == [{}, {}]
        for decision in recorded(running, given):
            assert decision["fallbacks"] == ["unapproved"]
        running.settings = {**running.settings, "unknownMessages": "trust"}
        running.reload(RULES)
        given = [(asked, running.ask(asked)[1]) for asked in (question(productId="text"), question(productId="v2"))]
        assert given[0][1] == SAID and given[1][1]["promotionalOffer"]["messageIdentifier"] == OFFER
        assert all("fallbacks" not in decision for decision in recorded(running, given))
        # From the first list on, the setting has no effect.
        running.recovery = Player(port)
        running.approve(GERMAN)
        wait(lambda: running.ask(question(productId="text"))[1] == {})
        asked = question(productId="text", userLocale="de-DE")
        assert running.ask(asked)[1] == {"message": {"messageIdentifier": GERMAN}}
        assert running.ask(question(productId="v2"))[1] == {}
