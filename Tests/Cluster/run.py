"""Runs the long forms: `Deploy/cluster-test` prepares their requirements and calls this."""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from types import ModuleType

from Containers.report import Report, Row, Section
from SystemTests.faults.system import BINARIES, ROOT

from .loaded_run import Size
from .network import reason_against
from .scenarios import killing, partition, reshard, sentinel, slope

PARTS: tuple[ModuleType, ...] = (reshard, killing, partition, sentinel, slope)
DELIVERIES, KILLS, SECONDS, SENDERS = 200_000, 20, 30, 48
ABOUT = ("the real executables on Debian's redis-server, each Redis a process on loopback with `appendfsync always`: in parts 1 to 3 "
         "three primaries and three replicas, `cluster-node-timeout` 2 s. Senders repeat until they are answered 200, as Apple does; what "
         "was acknowledged is compared at the end with every event and every delivery's record in Redis.")
# Shares of the deliveries of part 1, chosen so that each part takes some minutes.
SHARES = {killing.NUMBER: 0.3, sentinel.NUMBER: 0.1}
# Sentinels take ten seconds or more to make a replica of a primary that returns, so fewer rounds are possible.
FEWER_KILLS = {sentinel.NUMBER: 0.3}


def run(report: Report, part: ModuleType, folder: pathlib.Path, size: Size, seed: int) -> None:
    section, began = report.section(part.NUMBER, part.TITLE), time.monotonic()
    size = dataclasses.replace(size, deliveries=int(size.deliveries * SHARES.get(part.NUMBER, 1)),
                               kills=max(1, round(size.kills * FEWER_KILLS.get(part.NUMBER, 1))))
    try:
        if part is partition and (reason := reason_against()):
            raise RuntimeError(reason)
        part.run(section, folder, size, seed)
    except Exception:  # noqa: BLE001 the other parts still run
        section.error = traceback.format_exc()
        print(section.error, flush=True)
    section.seconds = time.monotonic() - began
    print(f"  {'passed' if section.passed else 'FAILED'} in {section.seconds:.0f} s", flush=True)


def add_others(report: Report, path: pathlib.Path) -> None:
    """Parts that were not run this time are kept from the last report: each takes minutes, and they can be run separately."""
    numbers = {section.number for section in report.sections}
    for found in json.loads(path.read_text())["sections"] if path.exists() else []:
        if found["number"] in numbers:
            continue
        section = Section(found.pop("number"), found.pop("title"))
        section.rows = [Row(**row) for row in found.pop("rows")]
        section.seconds, section.error, section.notes = found.pop("seconds"), found.pop("error"), found.pop("notes", [])
        found.pop("passed")
        section.figures = found
        report.sections.append(section)
    report.sections.sort(key=lambda section: section.number)


def main() -> int:
    parser = argparse.ArgumentParser(prog="Deploy/cluster-test")
    parser.add_argument("--only", metavar="N,N", help="of the parts 1 to 5")
    parser.add_argument("--deliveries", type=int, default=DELIVERIES, help="of part 1; the others take a share of it")
    parser.add_argument("--kills", type=int, default=KILLS, help="of primaries, in part 2; in part 4 a third of it")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of the partition")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="keep logs and data, and say where")
    parser.add_argument("--write-report", action="store_true", help="write Documentation/cluster-test.md and .json")
    options = parser.parse_args()
    # A signal to end also ends the child processes.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    chosen = set((options.only or ",".join(part.NUMBER for part in PARTS)).split(","))
    seed = options.seed or random.randrange(1 << 32)
    command = " ".join(["Deploy/cluster-test", *(word for word in sys.argv[1:] if word not in ("--write-report", "--keep"))])
    report = Report(command, "cluster-test", "The cluster test", ABOUT)
    origin = f"{time.strftime('%Y-%m-%d', time.gmtime())}, executables of {BINARIES.name}: `{command}`, seed {seed}."
    report.notes.append(f"Services, Redis, Sentinels and {SENDERS} senders (one Python process) share the machine.")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cluster-test-"))
    try:
        for part in PARTS:
            if part.NUMBER in chosen:
                run(report, part, folder / part.NUMBER, Size(options.deliveries, options.kills, SENDERS, options.seconds), seed)
                report.sections[-1].notes.append(origin)
                report.sections[-1].figures["notes"] = report.sections[-1].notes
    finally:
        if options.keep:
            print(f"\nkept: {folder}", flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print("\n" + report.markdown())
    passed = report.passed
    if options.write_report:
        add_others(report, ROOT / "Documentation" / "cluster-test.json")
        report.write(ROOT / "Documentation")
    report.write(ROOT / ".build" / "cluster-test")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
