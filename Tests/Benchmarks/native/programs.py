"""The programs in C that load ingest and Redis and watch for events: compiled for a run, and called."""

from __future__ import annotations

import contextlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from Benchmarks.bench import NATIVE, ROOT

SCRIPT = ROOT / "Shared" / "AttributionQueue" / "Scripts" / "Accept" / "accept.lua"


class Native:
    """The compiled programs `load`, `accepts` and `observe`; they are deleted at the end."""

    def __enter__(self) -> Native:
        compiler = shutil.which("cc")
        for tool in ("cc", "redis-server", "redis-cli", "redis-benchmark"):
            if shutil.which(tool) is None:
                sys.exit(f"{tool} is not installed (Debian: build-essential, redis)")
        self.folder = tempfile.TemporaryDirectory(prefix="benchmark-native-")
        for name in ("load", "accepts", "observe"):
            subprocess.run([compiler, "-O2", "-o", pathlib.Path(self.folder.name) / name, NATIVE / f"{name}.c"], check=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.cleanup()

    def load(self, port: int, seconds: float, *, rate: float = 0, repeat: int = 0, seed: int = 1, bodies: pathlib.Path | str = "-",
             times: pathlib.Path | str = "-", connections: int = 64, path: str = "/v1/postbacks", first: int = 0) -> dict:
        """Posts postbacks, or the lines of a file, to ingest; see load.c. Any status but 200 is an error."""
        return self._run("load", port, connections, seconds, rate, repeat, seed, bodies, times, path, first, limit=seconds + 60)

    def accepts(self, port: int, sha1: str, seconds: float, *, body: int, envelope: int, count: int = 1 << 62, seed: int = 1,
                connections: int = 64, pipeline: int = 1, buckets: int = 13, record_seconds: int = 86_400, store: str = "c",
                generation: int = 6 * 3600) -> dict:
        """Calls the accept script as ingest does; see accepts.c."""
        return self._run("accepts", port, connections, pipeline, count, seconds, sha1, seed, buckets, body, envelope, record_seconds, store,
                         generation,
                         limit=seconds + 60)

    @contextlib.contextmanager
    def observed(self, port: int, step: int, times: pathlib.Path) -> Iterator[None]:
        """Records in the background when the events of every n-th shard arrive; see observe.c."""
        process = subprocess.Popen([pathlib.Path(self.folder.name) / "observe", str(port), str(step), str(times)])
        try:
            yield
        finally:
            process.terminate()
            try:
                code = process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
        if code != 0:
            raise RuntimeError(f"observe ended with {code}")

    def _run(self, name: str, *words: object, limit: float) -> dict:
        run = subprocess.run([pathlib.Path(self.folder.name) / name, *map(str, words)], capture_output=True, text=True, timeout=limit, check=False)
        if run.returncode != 0:
            raise RuntimeError(run.stdout + run.stderr)
        return json.loads(run.stdout)
