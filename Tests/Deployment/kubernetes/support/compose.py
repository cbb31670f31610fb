"""Reads docker-compose.yml and the files that it names, which repeat facts of the code."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import yaml

from .swift_source import ROOT, services


@cache
def composition() -> dict[str, Any]:
    """The file, with anchors and merges resolved."""
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))


def service(name: str) -> dict[str, Any]:
    """One of its services."""
    return composition()["services"][name]


def _plain(text: str) -> str:
    """The text with the defaults of `${NAME:-default}`."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def env_files(name: str) -> list[list[dict[str, str]]]:
    """For each entry of `env_file`, the contents of every file that it may name, because its name may have variables."""
    entries = service(name).get("env_file", [])
    found = []
    for entry in [entries] if isinstance(entries, str) else entries:
        path = entry["path"] if isinstance(entry, dict) else entry
        files = sorted(ROOT.glob(re.sub(r"\$\{[^}]*\}", "*", path.removeprefix("./"))))
        assert files, f"{path} of {name} is no file"
        found.append([
            dict(line.split("=", 1) for line in file.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith("#"))
            for file in files
        ])
    return found


def environment(name: str) -> dict[str, str]:
    """The variables under `environment`, with defaults."""
    written = service(name).get("environment", {})
    pairs = written.items() if isinstance(written, dict) else (entry.partition("=")[::2] for entry in written)
    return {key: _plain(str(value if value is not None else "")) for key, value in pairs}


def every_environment(name: str) -> list[dict[str, str]]:
    """The possible environments of a service, one for each choice of its files."""
    results: list[dict[str, str]] = [{}]
    for choice in env_files(name):
        results = [{**before, **one} for before in results for one in choice]
    return [{**one, **environment(name)} for one in results]


def seconds(text: str) -> float:
    """The seconds of a duration such as `40s` or `1m30s`."""
    parts = re.findall(r"(\d+)(ms|s|m|h)", text)
    assert "".join(number + unit for number, unit in parts) == text
    return sum(int(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[unit] for number, unit in parts)


def mounts(name: str) -> dict[str, str]:
    """Path in the container → the mounted source."""
    found = {}
    for entry in service(name).get("volumes", []):
        source, target = (entry["source"], entry["target"]) if isinstance(entry, dict) else _plain(entry).split(":")[:2]
        found[target] = source
    return found


def memory(name: str) -> float:
    """The memory limit of a container in bytes."""
    limit = _plain(service(name).get("mem_limit") or service(name)["deploy"]["resources"]["limits"]["memory"]).lower()
    match = re.fullmatch(r"(\d+)([bkmg]?)b?", limit)
    assert match, limit
    return int(match[1]) * {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30}[match[2]]


def with_attribution_variables() -> list[str]:
    """Services of the file that are one of the five, or have an ATTRIBUTION_* variable."""
    return [
        name for name in composition()["services"]
        if name in services() or any(key.startswith("ATTRIBUTION_") for one in every_environment(name) for key in one)
    ]
