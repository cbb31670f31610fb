"""Runs the test: `Deploy/containers-test` prepares what it needs and calls this."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import itertools
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import nullcontext
from types import ModuleType

from SystemTests.faults.load import Ledger

from . import ROOT
from .composition import SERVICES, Composition
from .engine import Engine
from .environment import environment_file
from .feed import Reader
from .given import given
from .load import SimulatorsMaker
from .report import Report
from .rpc_caller import Access
from .scenarios import Context
from .scenarios.paths import set_token_answers

# In order; each needs what the earlier ones left running.
SCENARIOS = ("paths", "replacement", "killing", "disconnection", "scale", "restart", "certificates")
PROJECT = "attribution-containers-test"
PORT_BASE = 27080
# The tag of the images of this test, so that it replaces no others.
VERSION = "0.0.0-containers-test"
TARGETS = ("setup-demo", *SERVICES, "simulator")
COMPOSE_FILE = ROOT / "docker-compose.yml"


def variables(data: pathlib.Path, *files: str) -> dict[str, str]:
    found = environment_file(ROOT / "Deploy" / "compose" / "demo.env")
    for name in files:
        found |= environment_file(ROOT / "Deploy" / "compose" / name)
    for name in ("COMPOSE_PROJECT_NAME", "COMPOSE_PROFILES"):
        found.pop(name, None)
    return {**found, "ATTRIBUTION_DATA": str(data), "VERSION": VERSION}


def build(engine: Engine, data: pathlib.Path, executables: pathlib.Path | None, targets: tuple[str, ...] = TARGETS) -> dict[str, float]:
    """Builds the images of the compose file, by its own `build` sections; returns the seconds of each."""
    program = ROOT / "Deploy" / "containers" / "build-options"
    options = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    settings = {**variables(data), "COMMIT": "containers-test", "EXECUTABLES": "given" if executables else "built"}
    took = {}
    with given(executables) if executables else nullcontext([]) as which:
        words = shlex.join([*options, *which])
        for target in targets:
            service = "setup" if target.startswith("setup") else target
            began = time.monotonic()
            output = engine.compose(PROJECT, COMPOSE_FILE, settings, f"--podman-build-args={words}", "build", service, seconds=1500)
            if not engine.image_exists(f"apple-attribution/{target}:{VERSION}") or "exit code: 0" not in output:
                raise RuntimeError(f"the image {target} was not built:\n{output[-4000:]}")
            took[target] = time.monotonic() - began
            print(f"  built apple-attribution/{target} in {took[target]:.0f} s", flush=True)
    return took


def composition(engine: Engine, data: pathlib.Path, project: str, port_base: int, *files: str) -> Composition:
    return Composition(engine, COMPOSE_FILE, project, port_base, variables(data, *files), ["simulator"])


def context_of(system: Composition, report: Report, data: pathlib.Path, seed: int, pace: float) -> Context:
    token = (data / "token").read_text().strip()
    access = Access(system.ports, token)
    return Context(system, report, access, SimulatorsMaker(random.Random(seed), data / "simulator"), Ledger(),
                   Reader(access, "containers-test"), data, pace)


async def play(context: Context, modules: list[ModuleType], until: float) -> None:
    for module in modules:
        began = time.monotonic()
        if began > until:
            context.report.section(module.NUMBER, module.TITLE).error = "no time was left"
            continue
        try:
            async with asyncio.timeout(until - began):
                if module.NUMBER not in ("1", "7") and not context.subscribed:
                    await context.reader.subscribe()
                    context.subscribed = True
                await module.run(context)
        except Exception:  # noqa: BLE001 the other scenarios still run
            if not context.report.sections or context.report.sections[-1].number != module.NUMBER:
                context.report.section(module.NUMBER, module.TITLE)
            context.report.sections[-1].error = traceback.format_exc()
            print(traceback.format_exc(), flush=True)
        section = context.report.sections[-1]
        section.seconds = time.monotonic() - began
        print(f"  {'passed' if section.passed else 'FAILED'} in {section.seconds:.0f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="Deploy/containers-test", description="The composed system, tested through its balancer.")
    parser.add_argument("--short", action="store_true", help="check the files, build one image of given executables and start it")
    parser.add_argument("--keep", action="store_true", help="leave the system running at the end")
    parser.add_argument("--executables", type=pathlib.Path, metavar="DIR",
                        help="executables built outside, instead of compiling in the build")
    parser.add_argument("--skip-build", action="store_true", help="take the images of the last run")
    parser.add_argument("--only", metavar="N,N", help="of the scenarios 1 to 7")
    parser.add_argument("--seconds", type=int, default=600, help="the most that all scenarios together may take (default: 600)")
    parser.add_argument("--pace", type=float, default=1.0, help="longer (above 1) or shorter measured parts")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write-report", action="store_true", help="write Documentation/containers-test.md, .json and .svg")
    options = parser.parse_args()
    # A signal to end also ends the child processes.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    if options.short:
        from . import short
        return short.run(options.executables)
    modules = [importlib.import_module(f".scenarios.{name}", __package__) for name in SCENARIOS]
    if options.only:
        chosen = set(options.only.split(","))
        modules = [module for module in modules if module.NUMBER in chosen]
    seed = options.seed or random.randrange(1 << 32)
    # The report does not contain the directory of the executables.
    shown = ["DIR" if before == "--executables" else word for before, word in itertools.pairwise(sys.argv)]
    command = " ".join(["Deploy/containers-test", *(word for word in shown if word not in ("--write-report", "--keep"))])
    report = Report(command)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="containers-test-"))
    engine, data = Engine(folder), folder / "data"
    data.mkdir()
    system = composition(engine, data, PROJECT, PORT_BASE)
    try:
        system.remove()
        if not options.skip_build:
            times = build(engine, data, options.executables.resolve() if options.executables else None)
            report.notes.append(f"The images took {sum(times.values()):.0f} s to build" + (
                " of given executables." if options.executables else ", the compilation among it."))
        began = time.monotonic()
        system.bring_up()
        system.wait_until_served()
        report.notes += [
            (f"From nothing to all services behind the balancer: {time.monotonic() - began:.0f} s with podman-compose, which pauses a "
            "second for each container. What Docker's compose does by itself is done by the test: it starts `setup` first and waits for "
            "its end, passes the variables of Deploy/compose/demo.env, starts further instances by the command that made the first "
            "(`--scale`), waits as long as `stop_grace_period` says, and removes networks at the end."),
            ("In parts 2 to 4 each instance is held to a small share of a core (a quota of periods of 20 ms), so that the services and not "
            "the test's own load decide what the capacity is; the load is half of it: nine in ten deliveries are genuine postbacks, the "
            "others repeats, copies, forgeries, notifications, tokens and sessions, beside eight RPC callers and a reader of the feed."),
            (f"Seed {seed}. Senders and callers are one Python process; the capacity is measured with Tests/Benchmarks/native/load.c, the "
            "throughput with wrk."),
        ]
        context = context_of(system, report, data, seed, options.pace)
        set_token_answers(context)
        asyncio.run(play(context, modules, time.monotonic() + options.seconds))
    except Exception:  # noqa: BLE001 it is printed, and everything is removed
        report.section("0", "Bringing it up").error = traceback.format_exc()
        print(traceback.format_exc(), flush=True)
    finally:
        if options.keep:
            print(f"\nkept: project {PROJECT}, data in {data}, ports from {PORT_BASE}", flush=True)
        else:
            system.remove()
            shutil.rmtree(folder, ignore_errors=True)
    text = report.markdown()
    print("\n" + text)
    if options.write_report:
        report.write(ROOT / "Documentation")
    report.write(ROOT / ".build" / "containers-test")
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())
