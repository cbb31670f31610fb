"""The broker: the backlog after an hour's outage of Apple's endpoint, in scaled time, drained by two instances of which one is killed."""

from __future__ import annotations

import pathlib

from Benchmarks.bench import Report

from .backlog import Outage

CONCURRENCY = 256


def backlog(report: Report, binaries: pathlib.Path, tokens: int, outage: float, spread: float) -> None:
    result = Outage(binaries, tokens, outage_seconds=outage, spread_seconds=spread, scale=3600 / outage, concurrency=CONCURRENCY).play()
    report.figures.update(result)
    report.add("tokens after an outage of an hour (scaled), a broker killed midway", f"{tokens:,}")
    report.add("drained: tokens a second", f"{result['rate']:,.0f}")
    exact = result["events"] == tokens and result["repeated"] == 0
    report.add("final events, of these repeated", f"{result['events']:,}, {result['repeated']}", "one each", exact)
    report.add("expired although they could have been saved", str(result["expired_though_savable"]), "0", result["expired_though_savable"] == 0)
    report.add("expired during the outage", str(result["outcomes"].get("expired", 0)), str(result["doomed"]),
               result["outcomes"].get("expired", 0) == result["doomed"])
    report.add("sent to Apple after their deadline", str(result["called_past_deadline"]), "0", result["called_past_deadline"] == 0)
    report.add("positions later than in the order of deadlines: median, most",
               f"{result['behind_median']}, {result['behind_most']}", f"most within {3 * CONCURRENCY}",
               result["behind_most"] <= 3 * CONCURRENCY)
    report.add("the same, most: tokens that the killed broker had leased; tokens whose first call failed",
               f"{result['behind_held']}; {result['behind_tried']} ({result['tried']} tokens)")
    report.add("sent to Apple again after an answer", str(result["answered_twice"]), f"at most {CONCURRENCY}, leased by the killed broker",
               result["answered_twice"] <= CONCURRENCY)
    memory = result["memory"]
    report.add("the other broker's memory: before, most, after", f"{memory['before']:.0f}, {memory['peak']:.0f}, {memory['after']:.0f} MiB",
               "flat: within 48 MiB", memory["peak"] - memory["before"] <= 48)


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("outage", "The token broker: the backlog after an outage", command)
    if quick:
        backlog(report, binaries, 1_000, outage=20, spread=20)
    else:
        backlog(report, binaries, 200_000, outage=180, spread=240)
    report.notes += [
        ("Redis, simulator, ingest, verifier and two brokers share the machine's two cores. Deadlines are independent of the order in "
        "which tokens were accepted."),
        ("Positions later than in the order of deadlines: the number of tokens with later deadlines that Apple received before this one. "
        "Tokens that the killed broker had leased wait for the end of their leases."),
    ]
    return report
