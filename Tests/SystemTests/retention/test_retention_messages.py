"""Approved messages: several instances of ingest query Apple as often as one instance."""

from __future__ import annotations

import pathlib
import time

from .steps import RULES
from .system import OFFER, PENDING, TEXT, RetentionSystem, question, wait


def shown(system: RetentionSystem, ingest: object) -> str | None:
    status, answer, _ = system.ask(question(productId="pending"), ingest=ingest)
    assert status == 200
    return answer.get("message", {}).get("messageIdentifier")


def test_instances_share_the_queries_to_apple(tmp_path: pathlib.Path) -> None:
    system = RetentionSystem(tmp_path, RULES, {"messagesRefresh": "1s"}, ingests=3)
    with system:
        asked = len(system.recovery.calls)
        began = time.monotonic()
        time.sleep(6)
        rounds = (len(system.recovery.calls) - asked) / 2
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
