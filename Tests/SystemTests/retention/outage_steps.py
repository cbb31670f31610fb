"""Steps of the tests of outages: processes that hang or are stopped, and the check that each answer is within the budget."""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Self

from SystemTests.faults.process import Process

from .system import PATH, TEXT, RetentionSystem, metric, realtime_request, wait

BUDGET = 0.3
TEXT_ANSWER = {"message": {"messageIdentifier": TEXT}}


class TimedSystem(RetentionSystem):
    """Counts the answers that took longer than the budget, measured by the client, as the App Store would."""

    # Ingest's default timeouts.
    LONG_TIMEOUTS = MappingProxyType({})

    slow = 0

    def ask(self, *arguments: Any, **more: Any) -> tuple[int, dict, float]:
        status, answer, seconds = super().ask(*arguments, **more)
        self.slow += seconds > BUDGET
        return status, answer, seconds

    def slow_by_metric(self) -> float:
        """The late answers by ingest's own metric, which alerts use."""
        name = "attribution_retention_duration_seconds"
        return sum(metric(ingest, name + "_count") - metric(ingest, name + '_bucket{le="0.3"}') for ingest in self.ingests)


class Suspended:
    """Suspended processes: their connections stay open, and no answer comes."""

    def __init__(self, *processes: Process) -> None:
        self.processes = processes

    def __enter__(self) -> None:
        for process in self.processes:
            process.signal(signal.SIGSTOP)

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.signal(signal.SIGCONT)


class Absent:
    """Stopped processes: connections to them are refused. They run again afterwards."""

    def __init__(self, system: RetentionSystem, *processes: Process) -> None:
        self.system, self.processes = system, processes

    def __enter__(self) -> None:
        for process in self.processes:
            process.end()

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.is_held = False
        self.system.wait_for_redis()
        for process in self.processes:
            if process is not self.system.redis:
                wait(process.is_ready)


class BusyMachine:
    """Measures how long the busy machine delays ingest and this process. It sends requests, one after the other, that ingest refuses
    without calling another process. Whatever delays an answer also delays the refusal that is under way at the same moment."""

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

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ending.set()
        self.thread.join()
        assert self.failure is None, self.failure

    def delay(self, begun: float, ended: float) -> float:
        """The time by which the machine may have delayed a request: on its way in, at its deadline, and on its way out. It is the sum of
        the longest times between two refusals around these three moments. Call it after the last request."""
        gaps = list(itertools.pairwise(self.ends))

        def around(start: float, end: float) -> tuple[float, float]:
            return max((gap for gap in gaps if gap[1] >= start and gap[0] <= end), key=lambda gap: gap[1] - gap[0], default=(end, end))

        way_in = around(begun, begun)
        moments = {way_in, around(begun + BUDGET, way_in[1] + BUDGET), around(ended, ended)}
        return sum(later - earlier for earlier, later in moments)


def in_time(system: RetentionSystem, product: str, wanted: Callable[[dict], bool], count: int = 6, **more: object) -> list[tuple[dict, dict]]:
    """Sends requests, and checks that each gets a wanted answer within the budget. An answer may be later by the time by which the machine
    delayed refusals at the same moment (BusyMachine), but one answer must be within the budget: until then, more requests are sent."""
    given: list[tuple[dict, dict]] = []
    spans: list[tuple[float, float]] = []
    with BusyMachine(system) as busy:
        while len(given) < count or (len(given) < 3 * count and all(ended - begun >= BUDGET for begun, ended in spans)):
            sent = realtime_request(productId=product, **more)
            status, answer, seconds = system.ask(sent)
            ended = time.monotonic()
            assert status == 200 and wanted(answer), answer
            given.append((sent, answer))
            spans.append((ended - seconds, ended))
        # The refusal that was under way at the last answer must be complete too.
        end = time.monotonic()
        wait(lambda: busy.failure or busy.ends[-1] > end)
    times = [(round(ended - begun, 3), round(busy.delay(begun, ended), 3)) for begun, ended in spans]
    late = f"late answers (seconds, delay by the machine): {times}"
    assert all(seconds < BUDGET + delay for seconds, delay in times), late
    assert min(times)[0] < BUDGET, late
    return given


def recorded(system: RetentionSystem, given: list[tuple[dict, dict]]) -> list[dict]:
    """The decisions in the events of these requests. Checks that each request has exactly one event, with the answer that was given."""
    wanted = [sent["requestIdentifier"] for sent, _ in given]
    wait(lambda: {event["data"]["requestIdentifier"] for event in system.decided()}.issuperset(wanted))
    system.wait_until_worked()
    events = system.decided()
    decisions = []
    for identifier, (_, answer) in zip(wanted, given, strict=True):
        found = [event["data"] for event in events if event["data"]["requestIdentifier"] == identifier]
        assert [one["answer"] for one in found] == [answer], (identifier, answer, found)
        decisions.append(found[0]["decision"])
    return decisions


def fallbacks(system: RetentionSystem, cause: str) -> float:
    return metric(system.ingest, f'attribution_retention_fallbacks_total{{cause="{cause}"}}')
