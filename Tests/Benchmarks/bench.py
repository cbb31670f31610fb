"""Helpers of the benchmarks: pinned processes, OpenSSL's own figures, loads by wrk, and the report. Standard library only."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NATIVE = pathlib.Path(__file__).resolve().parent / "native"
TOKEN = "benchmark-token-0123456789"
SERVER_CORE, LOAD_CORE = "0", "1"
# An argument for Redis: a rewrite of the append-only file uses a core for seconds at unpredictable times, and would determine the ratio.
NO_REWRITES = ("--auto-aof-rewrite-percentage", "0")


# Instead of the number of a core: on all cores with the scheduling policy of Deploy/up, in which a process that wakes up preempts no other.
TOGETHER = "together"
# A file system in memory.
MEMORY = "/dev/shm"


def pinned(core: str | None, command: list) -> list[str]:
    prefix = [] if core is None else ["chrt", "--batch", "0"] if core == TOGETHER else ["taskset", "-c", core]
    return prefix + [str(word) for word in command]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def openssl_speed(algorithm: str, seconds: int, cores: int = 1) -> tuple[float, float]:
    """Signatures and verifications a second of `openssl speed`, pinned to the server's core, or with this number of processes."""
    command = ["openssl", "speed", "-seconds", str(seconds)] + (["-multi", str(cores)] if cores > 1 else []) + [algorithm]
    run = subprocess.run(pinned(SERVER_CORE if cores == 1 else None, command), capture_output=True, text=True, check=True)
    line = [line for line in run.stdout.splitlines() if "ecdsa" in line][-1]
    sign, verify = re.findall(r"[\d.]+", line)[-2:]
    return float(sign), float(verify)


class Wrk:
    """One run of wrk: requests a second, latencies in milliseconds, and responses with a status of 400 or more."""

    def __init__(self, url: str, script: pathlib.Path, seconds: int, connections: int = 32, threads: int = 1,
                 core: str | None = LOAD_CORE, variables: dict[str, str] | None = None) -> None:
        run = subprocess.run(
            pinned(core, ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "20s", "-s", script,
                          url, "--", TOKEN]),
            capture_output=True, text=True, timeout=seconds + 60, env={**os.environ, **(variables or {})}, check=False)
        if run.returncode != 0:
            raise RuntimeError(run.stdout + run.stderr)
        self.text = run.stdout
        self.rate = float(re.search(r"Requests/sec:\s+([\d.]+)", run.stdout)[1])
        self.latency = {share: self._milliseconds(*re.search(rf"{share}%\s+([\d.]+)(us|ms|s)", run.stdout).groups())
                        for share in (50, 75, 90, 99)}
        failed = re.search(r"responses with a status of 400 or more: (\d+)", run.stdout)
        broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", run.stdout)
        self.failures = (int(failed[1]) if failed else 0) + (sum(map(int, broken.groups())) if broken else 0)
        if self.failures:
            raise RuntimeError(f"{self.failures} requests failed:\n{run.stdout}")

    @staticmethod
    def _milliseconds(number: str, unit: str) -> float:
        return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


class Server:
    """One of our services with its own configuration, pinned to a core."""

    def __init__(self, binaries: pathlib.Path, service: str, configuration: str, core: str | None = SERVER_CORE, **variables: str) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="benchmark-"))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        for name in ("p256",):
            path = self.folder / f"{name}.pem"
            subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path], check=True,
                           capture_output=True)
            path.chmod(0o400)
        digest = hashlib.sha256(TOKEN.encode()).hexdigest()
        (self.folder / "configuration.yaml").write_text(
            configuration + f'\nclients: [ {{ name: benchmark, tokenSHA256: "{digest}", allow: ["*"] }} ]\n')
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ATTRIBUTION_")}
        self.process = subprocess.Popen(
            pinned(core, [binaries / service]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=(self.folder / "log").open("wb"),
            env={**environment, "ATTRIBUTION_CONFIG": str(self.folder / "configuration.yaml"),
                 "ATTRIBUTION_LISTEN": f"127.0.0.1:{self.port}", "ATTRIBUTION_DEVELOPMENT": "1", "ATTRIBUTION_BENCHMARK_ECHO": "1",
                 "ATTRIBUTION_LOG_LEVEL": "warning", "ATTRIBUTION_DRAIN_DELAY_MS": "50", **variables})
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise

    def _wait(self) -> None:
        for _ in range(200):
            if self.process.poll() is not None:
                raise RuntimeError((self.folder / "log").read_text())
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/startupz")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise RuntimeError("the service did not start")

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def resident(self) -> dict[str, float]:
        """The resident memory in MiB: all of it, and the part that is not mapped from files."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return {name: int(re.search(rf"{name}:\s+(\d+)", text)[1]) / 1024 for name in ("VmRSS", "RssAnon")}


class Redis:
    """A Redis for the benchmark, on a loopback port and on a socket. Every write is on the disk before its answer.
    `url` names the socket if it runs TOGETHER. `directory` contains the folder of its files; the default is the temporary directory."""

    def __init__(self, core: str | None = None, *settings: str, directory: str | None = None) -> None:
        self.core = core
        self.settings = settings
        self.directory = directory

    def __enter__(self) -> Redis:
        self.folder = tempfile.TemporaryDirectory(prefix="benchmark-redis-", dir=self.directory)
        self.port = free_port()
        path = pathlib.Path(self.folder.name) / "redis.sock"
        self.socket_url = f"unix://{path}"
        self.url = self.socket_url if self.core == TOGETHER else f"redis://127.0.0.1:{self.port}/0"
        self.process = subprocess.Popen(
            pinned(self.core, ["redis-server", "--port", self.port, "--bind", "127.0.0.1", "--unixsocket", path, "--dir", self.folder.name,
                               "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction", "--save", "",
                               *self.settings]),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            if self.cli("ping") == "PONG":
                return self
            time.sleep(0.05)
        self.__exit__()
        raise RuntimeError("redis-server did not start")

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(20)
        self.folder.cleanup()

    def cli(self, *words: str) -> str:
        command = pinned(self.core, ["redis-cli", "-p", self.port, *words])
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def median(values: list[float]) -> float:
    return statistics.median(values)


def shown(values: list[float], number_format: str = ".2f") -> str:
    """The median, the minimum and the maximum, as text."""
    return f"{median(values):{number_format}} ({min(values):{number_format}}–{max(values):{number_format}})"


def machine() -> str:
    model = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    openssl = subprocess.run(["openssl", "version"], capture_output=True, text=True, check=False).stdout.split("(")[0].strip()
    return f"{os.cpu_count()} cores, {model}; {openssl}; Linux {platform.release().split('-')[0]}"


class FirstFigure(BaseException):
    """Ends a suite of which only the start is wanted, through everything that it would end by itself."""


class Report:
    """Figures with their targets, as JSON for comparison and as Markdown for readers."""

    # Whether the first figure ends the suite.
    ends_at_first_figure = False

    def __init__(self, name: str, title: str, command: str) -> None:
        self.name, self.title, self.command = name, title, command
        self.rows: list[tuple[str, str, str, bool | None]] = []
        self.notes: list[str] = []
        self.figures: dict[str, object] = {}
        self.plot: Callable[[pathlib.Path], None] | None = None

    def add(self, what: str, value: str, target: str = "", met: bool | None = None) -> None:
        self.rows.append((what, value, target, met))
        print(f"{what:58} {value:>28}  {target:22} {'' if met is None else 'met' if met else 'NOT met'}", flush=True)
        if self.ends_at_first_figure:
            raise FirstFigure

    def write(self, folder: pathlib.Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if self.plot:
            self.plot(folder)
        date = time.strftime("%Y-%m-%d", time.gmtime())
        lines = [f"# {self.title}", "", f"{date}, {machine()}. Made by `{self.command}`.", "",
                 "| what | measured | target | |", "| --- | --- | --- | --- |"]
        lines += [f"| {what} | {value} | {target} | {'' if met is None else 'met' if met else '**not met**'} |"
                  for what, value, target, met in self.rows]
        lines += [""] + [f"- {note}" for note in self.notes]
        (folder / f"{self.name}.md").write_text("\n".join(lines) + "\n")
        (folder / f"{self.name}.json").write_text(
            json.dumps({"date": date, "machine": machine(), "command": self.command, **self.figures}, indent=1) + "\n")
