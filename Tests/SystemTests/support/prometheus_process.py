"""A real Prometheus (Debian package prometheus) with the shipped configuration and rules."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import yaml

from .free_ports import free_port

Value = TypeVar("Value")
ROOT = Path(__file__).resolve().parents[3]
PROMETHEUS = ROOT / "Deploy/prometheus"
TLS_DIRECTORY = "/run/attribution/tls"


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read().decode()


def eventually(attempt: Callable[[], Value], seconds: float = 30) -> Value:
    """The result of an attempt, as soon as it neither throws nor fails an assertion."""
    end = time.monotonic() + seconds
    while True:
        try:
            return attempt()
        except (AssertionError, OSError, LookupError):
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


@dataclass(frozen=True)
class RunningPrometheus:
    url: str

    def ask(self, path: str, **parameters: str) -> dict:
        answer = json.loads(fetch(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"))
        assert answer["status"] == "success"
        return answer["data"]

    def targets(self) -> set[tuple[str, str, str, str]]:
        """Job, service, instance and health of each target."""
        found = self.ask("targets")["activeTargets"]
        return {(*(target["labels"][name] for name in ("job", "service", "instance")), target["health"]) for target in found}

    def vector(self, expression: str) -> list[tuple[dict[str, str], float]]:
        return [(sample["metric"], float(sample["value"][1])) for sample in self.ask("query", query=expression)["result"]]


@contextmanager
def prometheus(directory: Path, shipped: str, instances: dict[str, list[int]], tls: Path | None = None,
               rules: Path = PROMETHEUS / "alerts.yml") -> Iterator[RunningPrometheus]:
    """A Prometheus with the shipped configuration and rules. Its discovery is replaced by these ports, its interval is a second."""
    configuration = yaml.safe_load((PROMETHEUS / shipped).read_text())
    configuration["global"] = {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
    configuration["rule_files"] = [str(rules)]
    for job in configuration["scrape_configs"]:
        job["static_configs"] = [
            {"targets": [f"127.0.0.1:{port}" for port in instances.get(name, [])], "labels": {"__meta_dns_name": name}}
            for discovery in job.pop("dns_sd_configs") for name in discovery["names"]
        ]
        for key in ("ca_file", "cert_file", "key_file"):
            if "tls_config" in job and tls is not None:
                job["tls_config"][key] = job["tls_config"][key].replace(TLS_DIRECTORY, str(tls))
    (directory / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    port = free_port()
    with (directory / "prometheus.log").open("w") as log:
        process = subprocess.Popen(
            ["prometheus", f"--config.file={directory / 'prometheus.yml'}", f"--storage.tsdb.path={directory / 'data'}",
             f"--web.listen-address=127.0.0.1:{port}", "--enable-feature=exemplar-storage"],
            stdout=log, stderr=subprocess.STDOUT,
        )
        try:
            running = RunningPrometheus(f"http://127.0.0.1:{port}")
            eventually(lambda: fetch(f"{running.url}/-/ready"))
            yield running
        except Exception:
            print((directory / "prometheus.log").read_text()[-4000:])
            raise
        finally:
            process.terminate()
            process.wait(20)
