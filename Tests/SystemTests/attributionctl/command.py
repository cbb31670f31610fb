"""Runs the real attributionctl against a running system, as a user would."""

import json
import os
import pathlib
import subprocess
from typing import Any

from SystemTests.support.running_system import ROOT, System

EXECUTABLE = ROOT / ".build" / os.environ.get("BUILD_CONFIGURATION", "debug") / "attributionctl"


def environment(system: System | None, **more: str) -> dict[str, str]:
    """The environment of a command: with the profile that Deploy/up created, and without the caller's own settings of attributionctl."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("ATTRIBUTIONCTL_") and name not in ("NO_COLOR", "XDG_CONFIG_HOME")
    }
    profiles = str(system.data / "attributionctl.yaml") if system else "/nonexistent/profiles.yaml"
    return {**kept, "ATTRIBUTIONCTL_PROFILES": profiles, **more}


def ctl(system: System | None, *words: object, stdin: str | bytes | None = None, timeout: float = 120, **more: str) -> subprocess.CompletedProcess:
    """Runs one command to its end; `more` is added to its environment."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run([EXECUTABLE, *map(str, words)], input=data if data is not None else b"", capture_output=True, timeout=timeout,
                          env=environment(system, **more), check=False)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def ctl_json(system: System | None, *words: object, code: int = 0, **options: Any) -> Any:
    """The answer of a command, as JSON."""
    done = ctl(system, *words, "--output", "json", **options)
    assert done.returncode == code, done
    return json.loads(done.stdout)


def started(system: System, *words: object, **options: Any) -> subprocess.Popen:
    """Starts a command and returns its process."""
    return subprocess.Popen([EXECUTABLE, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                            env=environment(system), **options)


def lines(text: str) -> list[dict]:
    """The JSON objects of a text, one a line."""
    return [json.loads(line) for line in text.splitlines()]


def written(path: pathlib.Path) -> list[dict]:
    """The events in a file of an export."""
    return lines(path.read_text())
