"""What traces cost: accepts and events a second without a collector, and with one hundredth of all traces recorded, in turn."""

from __future__ import annotations

import http.server
import pathlib
import tempfile
import threading

from Benchmarks.bench import Report, median, shown
from Benchmarks.native.programs import Native
from Benchmarks.queue.queue_bench import worked_off

from .ingest_bench import accept_round
from .postbacks import Signer

OFF, HUNDREDTH, ALL, AWAY = "no collector", "1 % recorded", "all recorded", "1 % recorded, the collector is away"
# The minimum throughput with one hundredth recorded, relative to that without a collector.
LEAST = 0.98


class Collector:
    """Accepts all posts, and counts the exports."""

    def __init__(self) -> None:
        self.exports = 0
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                collector.exports += 1
                self.send_response_only(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self) -> Collector:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("trace", "Traces: cost", command)
    seconds, rounds, backlog, rounds_of_events = (2, 1, 10_000, 1) if quick else (6, 9, 60_000, 5)
    with Native() as native, Collector() as collector, tempfile.TemporaryDirectory() as folder:
        ways = {OFF: "", HUNDREDTH: f"\ntraces: {{ endpoint: '{collector.url}', sampling: 0.01 }}\n",
                ALL: f"\ntraces: {{ endpoint: '{collector.url}', sampling: 1 }}\n",
                # No process listens on this port.
                AWAY: "\ntraces: { endpoint: 'http://127.0.0.1:9', sampling: 0.01 }\n"}
        accepts: dict[str, list[dict]] = {name: [] for name in ways}
        for number in range(rounds):
            # The order alternates, so that changes of the host's speed affect all alike.
            for name in list(ways)[::-1 if number % 2 else 1]:
                accepts[name].append(accept_round(binaries, native, seconds, number, settings=ways[name]))
                print(f"round {number + 1} of {rounds}, {name}: {accepts[name][-1]['rate']:,.0f} accepts a second", flush=True)
        signer, postbacks = Signer(), pathlib.Path(folder) / "postbacks"
        signer.write(postbacks, backlog)
        events: dict[str, list[dict]] = {name: [] for name in (OFF, HUNDREDTH)}
        for number in range(rounds_of_events):
            for name in list(events)[::-1 if number % 2 else 1]:
                events[name].append(worked_off(binaries, native, signer, postbacks, backlog, 0, ways[name]))
                print(f"round {number + 1} of {rounds_of_events}, {name}: {events[name][-1]['rate']:,.0f} events a second", flush=True)
        if collector.exports == 0:
            raise RuntimeError("nothing was exported: nothing was measured")

    def ratios(found: dict[str, list[dict]], name: str, what: str) -> list[float]:
        return [one[what] / off[what] for one, off in zip(found[name], found[OFF], strict=True)]

    report.figures = {"accepts": accepts, "events": events}
    report.add("ingest without a collector: accepts a second", f"{median([one['rate'] for one in accepts[OFF]]):,.0f}")
    for name in (HUNDREDTH, AWAY, ALL):
        found = ratios(accepts, name, "rate")
        criterion = (f"at least {LEAST:.2f}", median(found) >= LEAST) if name != ALL else ()
        report.add(f"beside it, {name}", shown(found, ".3f"), *criterion)
        report.add("  ingest's processor time for an accept", shown(ratios(accepts, name, "ingest"), ".3f"))
    report.add("verifier without a collector: events a second", f"{median([one['rate'] for one in events[OFF]]):,.0f}")
    found = ratios(events, HUNDREDTH, "rate")
    report.add(f"beside it, {HUNDREDTH}", shown(found, ".3f"), f"at least {LEAST:.2f}", median(found) >= LEAST)
    report.add("  verifier's processor time for an event", shown(ratios(events, HUNDREDTH, "verifier"), ".3f"))
    report.notes += [
        ("Each figure is the median of rounds in turn, each on a fresh Redis; the range stands beside it. The collector is a small server of the "
        "benchmark's, which reads and counts, on the same machine."),
        "Of each recorded postback ingest exports two spans and verifier one; without a push endpoint there is no fourth.",
    ]
    return report
