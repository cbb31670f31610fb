"""Recovery of an outage of one day: the number of pages compared with the minimum, and the time compared with sequential paging."""

from __future__ import annotations

import os
import pathlib
import tempfile
import time

from Benchmarks.bench import Report
from SystemTests.recovery.system import DAY, ended, recover_outage_of_a_day, recovery_system, slow_and_failing, start


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("recovery", "Recovering a day's outage", command)
    count, fresh = (4000, 100) if quick else (100_000, 2000)
    # Deploy/up runs the build with this name; `binaries` names it.
    os.environ["BUILD_CONFIGURATION"] = binaries.name
    with tempfile.TemporaryDirectory(prefix="benchmark-recovery-") as folder:
        data = pathlib.Path(folder) / "data"
        data.mkdir()
        with recovery_system(data) as system:
            played = recover_outage_of_a_day(system, count, fresh, 1200)
            # Then a part of the same day is recovered one page at a time. It has no new notification, so the comparison favours this way.
            configuration = data / "configuration.yaml"
            configuration.write_text(configuration.read_text().replace("parallelPages: 16", "parallelPages: 1"))
            system.service("stop", "notification-recovery")
            system.service("start", "notification-recovery")
            part = 1 if quick else 20
            slow_and_failing(system)
            began = time.monotonic()
            single = ended(system, start(system, played["first"] + 3600, played["first"] + 3600 + DAY / part), seconds=600, every=0.1)
            seconds = time.monotonic() - began
            system.control("/control/faults", {"clear": True})
    assert single["state"] == "completed", single
    events = played["events"]
    once = len(events) == len(set(events)) and set(events) == played["wanted"]
    pages, fewest = played["pages"], played["fewest"]
    sequential = seconds / single["pages"] * fewest
    speedup = sequential / played["seconds"]
    report.figures = {
        "missed": count, "fresh": fresh, "pages": pages, "fewest": fewest, "seconds": played["seconds"],
        "sequentialPages": single["pages"], "sequentialSeconds": seconds, "sequentialWhole": sequential, "speedup": speedup,
        "accepted": played["recovery"]["accepted"], "duplicates": played["recovery"].get("duplicates", 0), "exactlyOnce": once}
    report.add("missed in a day; fresh ones meanwhile", f"{count:,}; {fresh:,}")
    report.add("events, each once", f"{len(set(events)):,} of {len(played['wanted']):,}", "all, once", once)
    report.add("pages Apple gave, the fewest possible", f"{pages:,}, {fewest:,}: {pages / fewest:.3f}", "at most 1.100", pages <= 1.1 * fewest)
    report.add("time, with the leader killed on the way", f"{played['seconds']:.1f} s")
    report.add("one page after the other, for as many pages", f"{sequential:.1f} s")
    report.add("how many times faster", f"{speedup:.1f}", "at least 4.0", speedup >= 4)
    report.notes = [
        ("Against the simulator: each of Apple's answers takes 40 ms, and one in ten is a failure, which is repeated and not counted as "
        "a page. A failure's retry waits up to a second, in both measurements."),
        "The leader is killed after three tenths; its lease of 2 s expires, and the other instance continues after the last stored pages.",
        f"One after the other was measured over {single['pages']:,} pages of the same day.",
    ]
    return report
