"""The running system that the demo plays against, and what it says of each step."""

import sys
import time

from client import System

system = System(sys.argv[1], int(sys.argv[2]), sys.argv[3:] or None)
rows: list[tuple[str, str, str, bool]] = []


def row(path: str, step: str, outcome: str, right: bool) -> None:
    rows.append((path, step, outcome, right))
    print(f"  {'ok ' if right else 'NO '} {path}: {step}: {outcome}", flush=True)


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def short(event_type: str) -> str:
    return ".".join(event_type.split(".")[-3:-1])
