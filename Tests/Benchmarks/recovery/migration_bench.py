"""A file of receipts, a million in the long form, is migrated while the command and the service are killed."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import time

from Benchmarks.bench import ROOT, Report
from SystemTests.migration.receipts import app_receipt, response, story, transaction_receipt
from SystemTests.support.running_system import System, start_system, stop_system

APP = "com.example.app"
# The simulator answers at the maximum rate; Apple's limits are per second.
SETTINGS = """
recovery:
  rates: { getTransactionHistory: 1000, getAllSubscriptionStatuses: 1000 }
"""


def write(path: pathlib.Path, count: int, people: list[str], strangers: list[str], chance: random.Random) -> dict[str, int]:
    """Writes a line for each receipt: of purchases that Apple knows and does not know, and some unreadable ones; returns their numbers."""
    broken = 0
    kinds = [lambda one: app_receipt([one]), lambda one: json.dumps({"id": one, "appReceipt": app_receipt([one])}),
             lambda one: json.dumps(response([one])), transaction_receipt]
    ready = [kind(one) for one in people + strangers for kind in kinds]
    with path.open("w") as file:
        # At least one of each kind.
        for line in ready:
            file.write(line + "\n")
        for _ in range(count - len(ready)):
            if chance.random() < 0.001:
                broken += 1
                file.write("not a receipt\n")
            else:
                file.write(chance.choice(ready) + "\n")
    return {"broken": broken, "bytes": path.stat().st_size}


def command(system: System, path: pathlib.Path) -> list:
    executable = ROOT / ".build" / os.environ.get("BUILD_CONFIGURATION", "debug") / "attributionctl"
    return ["env", f"ATTRIBUTIONCTL_PROFILES={system.data / 'attributionctl.yaml'}", executable, "migrate", path, "--bundle-id", APP,
            "--batch", "1000"]


def resident(system: System) -> float:
    pid = (system.data / f"run-{system.port_base}" / "notification-recovery.pid").read_text().strip()
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def work(system: System, path: pathlib.Path, kills: int) -> tuple[float, str, list[float]]:
    """Runs the command until it ends normally. It is killed this number of times meanwhile, and the service is killed once."""
    began, memory = time.monotonic(), []
    state = path.with_name(path.name + ".migration.json")
    total = path.stat().st_size
    for kill in range(kills):
        running = subprocess.Popen(command(system, path), stdout=subprocess.DEVNULL)
        while not (state.exists() and json.loads(state.read_text())["offset"] > total * (kill + 1) / (kills + 1)):
            if running.poll() is not None:
                raise RuntimeError("the command ended by itself")
            time.sleep(0.05)
        running.send_signal(signal.SIGKILL)
        running.wait()
        memory.append(resident(system))
        if kill == kills // 2:
            system.service("kill", "notification-recovery")
            system.service("start", "notification-recovery")
    done = subprocess.run(command(system, path), stdout=subprocess.PIPE, text=True, timeout=1800, check=False)
    memory.append(resident(system))
    return time.monotonic() - began, done.stdout, memory


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("migration", "A file of receipts", command)
    count, known, unknown, kills = (10_000, 50, 50, 1) if quick else (1_000_000, 4000, 4000, 3)
    os.environ["BUILD_CONFIGURATION"] = binaries.name
    chance = random.Random(7)
    with tempfile.TemporaryDirectory(prefix="benchmark-migration-") as folder:
        data = pathlib.Path(folder) / "data"
        data.mkdir()
        system = start_system(data)
        try:
            with (data / "configuration.yaml").open("a") as file:
                file.write(SETTINGS)
            system.service("stop", "notification-recovery")
            system.service("start", "notification-recovery")
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                people = [made["originalTransactionId"] for made in pool.map(lambda _: story(system, "buy", "renew"), range(known))]
            path = pathlib.Path(folder) / "receipts"
            made = write(path, count, people, [f"9{number:017d}" for number in range(unknown)], chance)
            seconds, words, memory = work(system, path, kills)
            lines = path.with_name(path.name + ".failures.jsonl").read_text().splitlines()
            failures = [json.loads(line) for line in lines]
            migration = system.call("Recovery", "ListMigrations", {"bundleId": APP})["migrations"][0]
        finally:
            stop_system(system)
    print(words)
    missing = sum(failure["reason"] == "no-transaction" for failure in failures)
    unreadable = sum(failure["reason"] == "malformed-receipt" for failure in failures)
    report.figures = {"receipts": count, "seconds": seconds, "memory": memory, "migration": migration, **made}
    report.add("receipts in the file, bytes", f"{count:,}, {made['bytes']:,}")
    report.add("worked through, the command killed and begun again", f"{seconds:.0f} s, {kills} times")
    report.add("receipts a second", f"{count / seconds:,.0f}")
    report.add("receipts counted", f"{int(migration['receipts']):,}", f"{count:,}", int(migration["receipts"]) == count)
    report.add("purchases looked up, each once", f"{int(migration['migrated']):,}", f"{known:,}", int(migration["migrated"]) == known)
    transactions = int(migration["transactions"])
    report.add("their transactions", f"{transactions:,}", f"{2 * known:,}", transactions == 2 * known)
    report.add("reported: purchases that Apple does not know", f"{missing:,}", f"{unknown:,}", missing == unknown)
    report.add("reported: lines that are no receipt", f"{unreadable:,}", f"{made['broken']:,}", unreadable == made["broken"])
    report.add("notification-recovery's memory on the way", ", ".join(f"{one:.0f}" for one in memory) + " MiB")
    report.notes = [
        ("attributionctl migrate and the whole system on one machine, the simulator in Apple's place at 1,000 calls a second; the service "
        "is killed once, too. Every receipt is read by the service; of the same purchase only the first is looked up."),
    ]
    return report
