"""Starts and stops a whole system with Deploy/up: for the system tests and the benchmarks. Standard library only."""

import os
import pathlib
import socket
import subprocess

from client import System

ROOT = pathlib.Path(__file__).resolve().parents[3]
VECTORS = ROOT / "Tests" / "Vectors"
BUILD = os.environ.get("BUILD_CONFIGURATION", "debug")


def free_port_base() -> int:
    """A base port: it and the ports from +10 to +19 are free now. Each parallel process of the tests uses its own range."""
    first = 21000 + 2000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    for base in range(first, first + 2000, 40):
        taken = False
        for offset in (0, *range(10, 20)):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", base + offset))
                except OSError:
                    taken = True
                    break
        if not taken:
            return base
    raise RuntimeError("no free ports")


def start_system(data: pathlib.Path, *options: str) -> System:
    """Starts a system with the executables of the build that BUILD_CONFIGURATION names; the default is debug."""
    base = free_port_base()
    run = subprocess.run(
        [ROOT / "Deploy" / "up", "--detach", "--skip-build", "--data", data, "--port-base", str(base), *options],
        env={"BUILD_CONFIGURATION": "debug", **os.environ}, capture_output=True, text=True, timeout=300, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"Deploy/up failed:\n{run.stdout[-3000:]}\n{run.stderr[-3000:]}")
    return System(data, base)


def stop_system(system: System) -> None:
    subprocess.run([ROOT / "Deploy" / "down", "--data", system.data, "--port-base", str(system.port_base)],
                   capture_output=True, text=True, timeout=120, check=True)


def verifier_under(system: System, configuration: pathlib.Path) -> subprocess.CompletedProcess:
    """Runs a verifier that exits because of its configuration, after it has connected to the running system's Redis."""
    commands = (system.data / f"run-{system.port_base}" / "verifier.command").read_text().splitlines()
    url = next(line for line in commands if "REDIS_URL" in line).split("=", 1)[1]
    return subprocess.run([ROOT / ".build" / os.environ.get("BUILD_CONFIGURATION", "debug") / "verifier"], capture_output=True, text=True,
                          timeout=60, env={"ATTRIBUTION_CONFIG": str(configuration), "ATTRIBUTION_LISTEN": "127.0.0.1:0",
                                           "ATTRIBUTION_REDIS_URL": url}, check=False)


def redis_words(system: System, *words: object) -> list[str]:
    """The reply of the system's Redis to a command, divided at white space."""
    command = ["redis-cli", "-p", str(system.port_base + 18), "--no-auth-warning", "-a", (system.data / "redis-password").read_text().strip()]
    return subprocess.run([*command, *map(str, words)], check=True, capture_output=True, text=True).stdout.split()
