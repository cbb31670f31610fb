"""Requests for retention messages while a service or Redis hangs or is unreachable, and an app's own decision service."""

from __future__ import annotations

import itertools
import signal
import threading
import time
import uuid

import pytest

from SystemTests.faults.process import Process
from SystemTests.support.free_ports import free_port

from .steps import RULES
from .system import (
    APP,
    GERMAN,
    OFFER,
    PATH,
    PENDING,
    PLAN,
    TEXT,
    Player,
    RetentionSystem,
    metric,
    question,
    wait,
)

BUDGET = 0.3
SAID = {"message": {"messageIdentifier": TEXT}}


class TimedSystem(RetentionSystem):
    """It counts the answers that took longer than the budget, as the App Store sees it."""

    slow = 0

    def ask(self, *arguments, **more) -> tuple[int, dict, float]:
        status, answer, seconds = super().ask(*arguments, **more)
        self.slow += seconds > BUDGET
        return status, answer, seconds

    def slow_by_metric(self) -> float:
        """The same by ingest's own measurement, which alerts use."""
        name = "attribution_retention_duration_seconds"
        return sum(metric(ingest, name + "_count") - metric(ingest, name + '_bucket{le="0.3"}') for ingest in self.ingests)


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    """Each test brings back what it stops."""
    running = TimedSystem(tmp_path_factory.mktemp("retention"), RULES, ingests=2)
    with running:
        yield running


@pytest.fixture(autouse=True)
def own_measurement(system):
    """Ingest measures from the verified request to the decision, so it must not find more late answers than its client does."""
    seen, measured = system.slow, system.slow_by_metric()
    yield
    assert system.slow_by_metric() - measured <= system.slow - seen


# --- dependencies that hang -------------------------------------------------------------------------------------------


class Stopped:
    """Suspended processes: their connections stay open, and no answer comes."""

    def __init__(self, *processes: Process) -> None:
        self.processes = processes

    def __enter__(self):
        for process in self.processes:
            process.signal(signal.SIGSTOP)

    def __exit__(self, *_: object):
        for process in self.processes:
            process.signal(signal.SIGCONT)


class Absent:
    """Processes that do not exist: connections to them are refused. They run again afterwards."""

    def __init__(self, system: RetentionSystem, *processes: Process) -> None:
        self.system, self.processes = system, processes

    def __enter__(self):
        for process in self.processes:
            process.end()

    def __exit__(self, *_: object):
        for process in self.processes:
            process.is_held = False
        self.system.wait_for_redis()
        for process in self.processes:
            if process is not self.system.redis:
                wait(process.is_ready)


class BusyMachine:
    """Measures how long the machine keeps ingest and this process waiting, by requests that ingest refuses at once without calling anything.
    They are sent one after the other; whatever delays an answer at some moment also delays the one that is sent at that moment."""

    PAUSE = 0.01

    def __init__(self, system: RetentionSystem) -> None:
        self.system = system
        self.ends = [time.monotonic()]
        self.failure: BaseException | None = None
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._ask, daemon=True)

    def _ask(self) -> None:
        try:
            while not self.ending.wait(self.PAUSE):
                assert self.system.ingest.post(PATH, b"{")[0] == 400
                self.ends.append(time.monotonic())
        except BaseException as failure:
            self.failure = failure
            raise

    def __enter__(self) -> BusyMachine:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ending.set()
        self.thread.join()
        assert self.failure is None, self.failure

    def delay(self, begun: float, ended: float) -> float:
        """The longest time from one refusal to the next in this interval. Call it after the last request."""
        return max(later - earlier for earlier, later in itertools.pairwise(self.ends) if later > begun and earlier < ended)


def in_time(system, product: str, wanted, count: int = 6, **more: object) -> list[tuple[dict, dict]]:
    """Sends some requests; each gets such an answer, and within the budget. An answer may exceed it only by the time by which the machine
    delayed a request without dependencies at the same moment, and not all of them may."""
    given, spans = [], []
    with BusyMachine(system) as busy:
        for _ in range(count):
            asked = question(productId=product, **more)
            status, answer, seconds = system.ask(asked)
            ended = time.monotonic()
            assert status == 200 and wanted(answer), answer
            given.append((asked, answer))
            spans.append((ended - seconds, ended))
        # The refusal that was under way when the last answer came counts, too.
        end = time.monotonic()
        wait(lambda: busy.failure or busy.ends[-1] > end)
    times = [(round(ended - begun, 3), round(busy.delay(begun, ended), 3)) for begun, ended in spans]
    assert all(seconds < BUDGET + delay for seconds, delay in times), f"late answers (seconds, delay by the machine): {times}"
    assert min(times)[0] < BUDGET, times
    return given


def recorded(system, given: list[tuple[dict, dict]]) -> list[dict]:
    """The decisions in the events of these requests: each has exactly one event, with the answer that was given."""
    wanted = [asked["requestIdentifier"] for asked, _ in given]
    wait(lambda: {event["data"]["requestIdentifier"] for event in system.decided()}.issuperset(wanted))
    system.wait_until_worked()
    events = system.decided()
    decisions = []
    for identifier, (_, answer) in zip(wanted, given, strict=True):
        found = [event["data"] for event in events if event["data"]["requestIdentifier"] == identifier]
        assert [one["answer"] for one in found] == [answer], (identifier, answer, found)
        decisions.append(found[0]["decision"])
    return decisions


def fallbacks(system, cause: str) -> float:
    return metric(system.ingest, f'attribution_retention_fallbacks_total{{cause="{cause}"}}')


@pytest.fixture
def settings(system):
    """Changes settings of `retention` for one test."""
    usual = dict(system.settings)

    def change(decisions: dict | None = None, **changed: str) -> None:
        system.settings = {**usual, **changed}
        system.reload(RULES, decisions)

    yield change
    system.settings = usual
    system.reload(RULES)


def test_with_a_hanging_signer_the_answer_has_no_offer(system):
    before = fallbacks(system, "signer")
    with Stopped(system.signer):
        text = in_time(system, "offer-or-text", lambda answer: answer == SAID)
        nothing = in_time(system, "v2", lambda answer: answer == {})
    with Absent(system, system.signer):
        absent = in_time(system, "offer-or-text", lambda answer: answer == SAID)
    assert "promotionalOffer" in system.ask(question(productId="v2"))[1]
    assert all(decision["fallbacks"] == ["signer"] for decision in recorded(system, text + nothing + absent))
    assert fallbacks(system, "signer") - before == len(text + nothing + absent)


def test_with_a_hanging_verifier_rules_that_need_the_history_are_skipped(system):
    known = str(uuid.uuid4().int % 10 ** 15)
    system.notify(known)
    with Stopped(system.verifier):
        given = in_time(system, "history", lambda answer: answer == SAID, originalTransactionId=known)
        # Requests that do not need it do not call it.
        assert "promotionalOffer" in system.ask(question(productId="v2"))[1]
    for decision in recorded(system, given):
        assert decision["fallbacks"] == ["history"] and decision["undecidedRules"] == ["loyal"]
    assert "promotionalOffer" in system.ask(question(productId="history", originalTransactionId=known))[1]


def test_a_hanging_redis_loses_no_answer_and_no_event(system):
    with Stopped(system.redis):
        given = in_time(system, "offer-or-text", lambda answer: "promotionalOffer" in answer, count=4)
        given += in_time(system, "text", lambda answer: answer == SAID, count=2)
        # Without Redis the same instance still answers a repetition as before.
        for asked, answer in given:
            assert system.ask(asked)[1] == answer
    recorded(system, given)
    for asked, answer in given:
        assert system.ask(asked)[1] == answer


def test_an_unreachable_redis_loses_no_answer_and_no_event(system):
    with Absent(system, system.redis):
        given = in_time(system, "offer-or-text", lambda answer: "promotionalOffer" in answer, count=3)
    assert all(decision["rule"] == "offer-or-text" for decision in recorded(system, given))


# --- several at once, and the budget itself ---------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["hanging", "absent"])
def test_without_any_dependency_each_answer_is_in_time_and_has_its_event(system, settings, how):
    processes = (system.signer, system.verifier, system.redis)
    # No other test calls the decision service by this URL: its circuit breaker is closed.
    url = f"{system.deciders.url}/{how}" if how == "hanging" else f"http://127.0.0.1:{free_port()}"
    approved = system.recovery.answers["ListRetentionMessages"]
    system.deciders.answers["DecideRetention"] = None
    settings({"url": url, "timeout": "150ms"})
    before = {cause: fallbacks(system, cause) for cause in ("service", "signer", "history", "late")}
    # notification-recovery hangs in both, which does not matter as long as a list of messages is known.
    system.recovery.answers["ListRetentionMessages"] = None
    try:
        with Stopped(*processes) if how == "hanging" else Absent(system, *processes):
            # Calls that hang, one after the other, may use up the budget before the next answer of the rule is tried. The App Store then
            # shows its default message.
            given = [one for product in ("offer-or-text", "text") for one in in_time(system, product, lambda answer: answer in (SAID, {}))]
    finally:
        system.recovery.answers["ListRetentionMessages"] = approved
        system.recovery.released.set()
        system.deciders.released.set()
    decisions = recorded(system, given)
    for (asked, answer), decision in zip(given, decisions, strict=True):
        offered = asked["productId"] == "offer-or-text"
        assert decision["fallbacks"] == (["late"] if answer == {} else ["service", "signer"] if offered else ["service"])
    # If calls fail at once, there is time for every fallback.
    assert how == "hanging" or not any(decision["fallbacks"] == ["late"] for decision in decisions)
    for cause, count in before.items():
        assert fallbacks(system, cause) - count == sum(cause in decision["fallbacks"] for decision in decisions), cause
    for asked, answer in given:
        assert system.ask(asked)[1] == answer
    system.recovery.released.clear()
    system.deciders.released.clear()


def test_the_budget_ends_a_call_of_verifier_whose_own_timeout_is_longer(system, settings):
    settings(historyTimeout="1s")
    with Stopped(system.verifier):
        given = in_time(system, "history", lambda answer: answer in (SAID, {}))
    for (_, answer), decision in zip(given, recorded(system, given), strict=True):
        assert decision["fallbacks"] == (["history"] if answer else ["late"])


def test_the_check_of_the_budget_fails_if_answers_are_late(system, settings):
    settings(budget="400ms", signerTimeout="1s")
    with Stopped(system.signer), pytest.raises(AssertionError, match="late answers"):
        in_time(system, "v2", lambda answer: True)


def test_an_answer_that_is_not_decided_in_time_is_the_default_and_is_recorded_as_late(system, settings):
    """The call of signer and the decision end at the same moment, and either may be first. It is repeated until it was the decision."""
    settings(signerTimeout="1s")
    late = fallbacks(system, "late")
    given: list[tuple[dict, dict]] = []
    with Stopped(system.signer):
        while not any(answer == {} for _, answer in given):
            assert len(given) < 60, "no answer was late"
            given += in_time(system, "offer-or-text", lambda answer: answer in (SAID, {}), count=3)
    decisions = recorded(system, given)
    for (_, answer), decision in zip(given, decisions, strict=True):
        assert decision["fallbacks"] == (["signer"] if answer else ["late"])
        assert decision["kind"] == ("message" if answer else "default") and ("rule" in decision) == bool(answer)
    assert fallbacks(system, "late") - late == sum(answer == {} for _, answer in given)
    # What is decided after the deadline replaces nothing, in no instance.
    for ingest in system.ingests:
        for asked, answer in given:
            assert system.ask(asked, ingest=ingest)[:2] == (200, answer)


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


# --- a decision service -----------------------------------------------------------------------------------------------


def test_a_decision_service_decides_and_the_rules_are_its_fallback(system, settings):
    method = "DecideRetention"
    token = system.folder / "decider-token"
    token.touch(0o600)
    token.write_text("a-token-for-decisions")
    service = {"url": system.deciders.url, "timeout": "150ms", "tokenFile": str(token)}
    wanted = {"promotionalOffer": {"messageIdentifier": OFFER, "offerIdentifier": "own"}}
    system.deciders.answers[method] = lambda _message: wanted
    settings(service)
    known = str(uuid.uuid4().int % 10 ** 15)
    system.notify(known)
    asked = question(productId="text", originalTransactionId=known, userLocale="de-DE")
    answer = system.ask(asked)[1]
    assert system.claims(answer["promotionalOffer"]["promotionalOfferSignatureV2"])["offerIdentifier"] == "own"
    assert system.event(asked["requestIdentifier"])["data"]["decision"]["source"] == "service"
    name, message, headers = system.deciders.calls[-1]
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
        assert system.ask(asked)[1] == answer, wanted
        assert system.event(asked["requestIdentifier"])["data"]["decision"].get("fallbacks") == causes, wanted

    # It hangs: the rules answer, and after some attempts it is not called for a while.
    system.deciders.answers[method] = None
    in_time(system, "text", lambda answer: answer == SAID, count=20)
    before = len(system.deciders.calls)
    in_time(system, "text", lambda answer: answer == SAID, count=5)
    assert len(system.deciders.calls) <= before + 1
    system.deciders.released.set()
    system.deciders.released.clear()
