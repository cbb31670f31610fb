"""The environment files of the compose file."""

from __future__ import annotations

import pathlib


def environment_file(path: pathlib.Path) -> dict[str, str]:
    """Sets what `docker compose --env-file` reads; podman-compose 1.0.3 has no such option."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)
