"""Executables that were built outside of the images, in a folder of the build context."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from . import ROOT
from .composition import SERVICES

NAMES = (*SERVICES, "attributionctl", "apple-simulator")


@contextmanager
def given(executables: pathlib.Path, names: tuple[str, ...] = NAMES) -> Iterator[list[str]]:
    """Yields the options of `podman build` that take these executables, stripped; the others are text files, because COPY needs all of them.
    The folder has a name of its own: `.executables` may hold what somebody built images of."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=".executables-", dir=ROOT))
    try:
        folder.chmod(0o755)
        for name in NAMES:
            if name in names:
                subprocess.run(["strip", "-o", folder / name, executables / name], check=True)
            else:
                (folder / name).write_text("not part of this image\n")
        yield ["--build-arg=EXECUTABLES=given", f"--build-arg=GIVEN_EXECUTABLES={folder.name}"]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
