"""Two builds in turn, in one run: the cost of an accept and of an event with each, and the ratios with their targets."""

from __future__ import annotations

import pathlib
import subprocess
import tempfile
from collections.abc import Callable

from Benchmarks.bench import MEMORY, TOGETHER, Report, median, shown
from Benchmarks.ingest.ingest_bench import accept_round
from Benchmarks.ingest.postbacks import Signer
from Benchmarks.native.programs import Native

from . import event_time
from .queue_bench import check_worker, worked_off

OLD, NEW = "old build", "new build"
# Targets for the new build relative to the old one: Redis' processor time for an event and for an accept, events a second from post to
# event.
EVENT_COST, ACCEPT_COST, WHOLE_WAY, WHOLE_WAY_AIM = 0.65, 1.03, 1.3, 1.5
# Rounds in order, by the name of a build or by the way in which its processes run.
Rounds = dict[str | None, list[dict]]


class Extent:
    """The duration of each part."""

    def __init__(self, quick: bool) -> None:
        self.rounds = 1 if quick else 5
        self.accept_seconds = 2 if quick else 4
        self.backlog = 10_000 if quick else 80_000
        self.batch_seconds = 2 if quick else 4
        self.whole_way = 6_000 if quick else 30_000
        self.event_rounds = 1 if quick else event_time.ROUNDS
        self.event_seconds = 2 if quick else 5


def in_turn(builds: dict[str | None, pathlib.Path], rounds: int, measure: Callable[[str | None, pathlib.Path, int], dict]) -> Rounds:
    """Measures this number of rounds of each build. They take turns in being first, so that changes of the host's speed affect both
    alike."""
    found: Rounds = {name: [] for name in builds}
    for number in range(rounds):
        for name in list(builds)[::-1 if number % 2 else 1]:
            found[name].append(measure(name, builds[name], number))
            print(f"round {number + 1} of {rounds}, {event_time.WAYS.get(name, name)}: {brief(found[name][-1])}", flush=True)
    return found


def brief(found: dict) -> str:
    return ", ".join(f"{name} {value:,.1f}" for name, value in found.items() if isinstance(value, (int, float)))


def values_of(found: Rounds, name: str, what: str) -> list[float]:
    return [one[what] for one in found[name]]


def ratios(found: Rounds, what: str) -> list[float]:
    """The ratio of the new build's figure to the old one's in the same round."""
    return [new / old for new, old in zip(values_of(found, NEW, what), values_of(found, OLD, what), strict=True)]


def compare(report: Report, found: Rounds, what: str, title: str, number_format: str, unit: str, most: float | None = None,
            least: float | None = None, aim: float | None = None) -> None:
    """A row for each build and one for their ratio, with its target if there is one."""
    report.add(title, "")
    for name in (OLD, NEW):
        report.add(f"  {name}", f"{shown(values_of(found, name, what), number_format)}{unit}")
    beside = ratios(found, what)
    target, met = "", None
    if most is not None:
        target, met = f"at most {most:g}", median(beside) <= most
    if least is not None:
        target, met = f"at least {least:g}", median(beside) >= least
    report.add("  new beside old", shown(beside), target + (f", aim {aim:g}" if aim else ""), met)


def accepts(report: Report, native: Native, builds: dict[str, pathlib.Path], extent: Extent) -> None:
    found = in_turn(builds, extent.rounds, lambda _, build, number: accept_round(build, native, extent.accept_seconds, number))
    report.figures["accept"] = found
    compare(report, found, "redis", "Redis' processor time for an accept", ".1f", " µs", most=ACCEPT_COST)
    compare(report, found, "ingest", "ingest's processor time for an accept", ".1f", " µs")
    compare(report, found, "rate", "durable accepts a second, both cores", ",.0f", "")


def backlog(report: Report, native: Native, signer: Signer, builds: dict[str, pathlib.Path], extent: Extent,
            folder: pathlib.Path) -> None:
    """The verifier has one core, Redis the other. Only the new build's worker is compared with its batches."""
    postbacks = folder / "backlog"
    signer.write(postbacks, extent.backlog)

    def measure(name: str | None, build: pathlib.Path, _: int) -> dict:
        return worked_off(build, native, signer, postbacks, extent.backlog, extent.batch_seconds if name == NEW else 0)

    found = in_turn(builds, extent.rounds, measure)
    report.figures["backlog"] = found
    compare(report, found, "redis", "Redis' processor time for an event, worked off a backlog", ".1f", " µs", most=EVENT_COST)
    compare(report, found, "verifier", "the verifier's processor time for an event", ".1f", " µs")
    compare(report, found, "rate", "events a second, the verifier on one core, Redis on the other", ",.0f", "")
    report.add("the new build's worker beside its batch RPC", "")
    check_worker(report, found[NEW])


def whole_way(report: Report, native: Native, signer: Signer, builds: dict[str, pathlib.Path], extent: Extent,
              folder: pathlib.Path) -> float:
    """Returns the new build's rate. It is measured with Redis' files on the disk, and in memory, where the current speed of the disk
    has no effect."""
    postbacks = folder / "postbacks"
    signer.write(postbacks, extent.whole_way)
    rates = []
    for name, title, directory in (("wholeWay", "from posts to events, all processes on both cores: a second", None),
                               ("wholeWayInMemory", "the same with Redis' files in memory: a second", MEMORY)):
        found = in_turn(builds, extent.rounds,
                        lambda _, build, __, directory=directory: event_time.whole_way(
                            build, native, signer, postbacks, extent.whole_way, directory=directory))
        report.figures[name] = found
        compare(report, found, "rate", title, ",.0f", "", least=WHOLE_WAY, aim=WHOLE_WAY_AIM)
        for build in builds:
            spent = [median([one["spent"][process] for one in found[build]]) for process in ("ingest", "verifier", "redis")]
            report.add(f"  processor time for each, {build}: ingest, verifier, Redis", " µs, ".join(f"{one:.0f}" for one in spent) + " µs")
        rates.append(median(values_of(found, NEW, "rate")))
    return rates[0]


def times(report: Report, native: Native, signer: Signer, build: pathlib.Path, rate: float, extent: Extent, folder: pathlib.Path) -> None:
    measured = event_time.EventTime(build, native, signer, rate, extent.event_seconds, folder)
    found = in_turn(dict.fromkeys(event_time.WAYS, build), extent.event_rounds, lambda way, _, _number: measured.round(way))
    report.figures["event"] = {"rate": rate, "rounds": found[None], "roundsTogether": found[TOGETHER]}
    report.add("the new build's highest rate, from posts to events: a second", f"{2 * rate:,.0f}")
    event_time.add_rounds(report, found)


def commit(binaries: pathlib.Path) -> str:
    """The commit of the tree that contains the executables."""
    result = subprocess.run(["git", "-C", binaries, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return result.stdout.strip() if result.returncode == 0 else "unknown"


def run(binaries: pathlib.Path, quick: bool, command: str, beside: pathlib.Path) -> Report:
    report = Report("beside", "The build beside an older one", command)
    builds, extent = {OLD: beside, NEW: binaries}, Extent(quick)
    signer = Signer()
    report.figures["commits"] = {name: commit(build) for name, build in builds.items()}
    report.add("commits: old build, new build", ", ".join(report.figures["commits"].values()))
    with Native() as native, tempfile.TemporaryDirectory(prefix="benchmark-beside-") as name:
        folder = pathlib.Path(name)
        accepts(report, native, builds, extent)
        backlog(report, native, signer, builds, extent, folder)
        rate = whole_way(report, native, signer, builds, extent, folder)
        times(report, native, signer, binaries, rate / 2, extent, folder)
    report.notes += [
        (f"{extent.rounds} rounds of each build in turn, the one that begins changing, each with a Redis of its own that was empty; a figure is "
        "the median, from the least to the most in brackets. Ratios are made in each round, and their median counts."),
        (f"A backlog is {extent.backlog:,} different postbacks that wait when the verifier starts, which reaches Redis by its socket; its "
        f"processor time counts from its start. The whole way is {extent.whole_way:,} of them, posted as fast as they are answered (64 "
        "connections), until the last event is there, with Redis on a port, once with its files on the disk and once in `/dev/shm`. "
        "Both builds have the same postbacks, configuration and load."),
        ("Redis syncs its append-only file before each answer (`appendfsync always`); its rewriting is off, since a rewrite takes a core at "
        "moments of its own. Nothing is pinned but for the backlog."),
        *event_time.NOTES,
    ]
    return report
