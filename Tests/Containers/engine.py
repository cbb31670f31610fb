"""Calls podman as a program. Only the objects of the test are changed."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PROJECT_LABEL = "io.podman.compose.project"
SERVICE_LABEL = "com.docker.compose.service"
# Microseconds. The period is short, so that an instance that has used up its quota continues soon. With the usual 100 ms, all calls
# would accumulate at stopped instances while another has nothing to do.
PERIOD = 20_000
# Debian's own program, which finds its modules whichever Python runs the test.
PODMAN_COMPOSE = "/usr/bin/podman-compose"


class EngineError(RuntimeError):
    """The program's output when it failed."""


@dataclasses.dataclass(frozen=True)
class Container:
    name: str
    service: str
    is_running: bool


class Engine:
    """`folder` gets the files of one run: the engine's settings if the machine has none, and recorded commands."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.environment = dict(os.environ)
        settings = self._settings()
        if settings:
            self.environment["CONTAINERS_CONF"] = str(settings)

    def _settings(self) -> pathlib.Path | None:
        """Limits the open files of containers to what this process may grant: the default of a million fails if the hard limit is lower.
        With version 1 of cgroups the runtime is runc, because crun sometimes fails there."""
        if "CONTAINERS_CONF" in os.environ or pathlib.Path("/etc/containers/containers.conf").exists():
            return None
        limits = []
        for name, which in (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC)):
            hard = resource.getrlimit(which)[1]
            most = 1048576 if hard == resource.RLIM_INFINITY else min(hard, 1048576)
            limits.append(f'"{name}={most}:{most}"')
        runtime = "" if pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists() or not shutil.which("runc") else 'runtime = "runc"\n'
        path = self.folder / "containers.conf"
        path.write_text(f"[engine]\n{runtime}[containers]\ndefault_ulimits = [{', '.join(limits)}]\n")
        return path

    # --- podman ------------------------------------------------------------------------------------------------------

    def run(self, *words: object, check: bool = True, seconds: float = 120, text: str | None = None) -> str:
        command = ["podman", *map(str, words)]
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=seconds, env=self.environment, check=False)
        if check and done.returncode != 0:
            raise EngineError(f"{' '.join(command[:8])} …: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
        return done.stdout

    def code(self, *words: object, seconds: float = 60) -> int:
        return subprocess.run(["podman", *map(str, words)], capture_output=True, timeout=seconds, env=self.environment, check=False).returncode

    def succeeds(self, *words: object, seconds: float = 60) -> bool:
        return self.code(*words, seconds=seconds) == 0

    def inspect(self, name: str) -> dict:
        return json.loads(self.run("inspect", "--type", "container", name))[0]

    def process(self, name: str) -> int:
        """The process id on the host of a container's first process; 0 if there is none."""
        return int(self.inspect(name)["State"]["Pid"])

    def containers(self, project: str) -> list[Container]:
        listed = json.loads(self.run("ps", "--all", "--filter", f"label={PROJECT_LABEL}={project}", "--format", "json") or "[]")
        return [Container(one["Names"][0], one["Labels"].get(SERVICE_LABEL, ""), one["State"] == "running") for one in listed]

    def networks(self, project: str) -> list[str]:
        return self.run("network", "ls", "--quiet", "--filter", f"label={PROJECT_LABEL}={project}").split()

    def volumes(self, project: str) -> list[str]:
        return self.run("volume", "ls", "--quiet", "--filter", f"label={PROJECT_LABEL}={project}").split()

    def image_exists(self, name: str) -> bool:
        return self.succeeds("image", "exists", name)

    def kill(self, name: str) -> None:
        """Sends SIGKILL to the process itself: a container that podman killed would not be started again by its restart policy."""
        process = self.process(name)
        if process:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def limit(self, name: str, cores: float, period: int = PERIOD) -> None:
        """Limits a container to a share of a core, measured in periods of this number of microseconds."""
        self.run("update", "--cpu-period", period, "--cpu-quota", max(1000, round(cores * period)), name)

    def quota(self, name: str) -> tuple[int, int]:
        """For a container with limited processor time: the periods in which it ran, and those in which it used up its quota. Version 1 and
        2 of cgroups."""
        for line in pathlib.Path(f"/proc/{self.process(name)}/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and "cpu" not in controllers.split(","):
                continue
            with contextlib.suppress(OSError):
                text = pathlib.Path("/sys/fs/cgroup" + ("/cpu" if controllers else "") + path, "cpu.stat").read_text()
                values = {key: int(value) for key, value in re.findall(r"(nr_\w+) (\d+)", text)}
                return values["nr_periods"], values["nr_throttled"]
        return 0, 0

    def logs(self, name: str, lines: int = 40) -> str:
        done = subprocess.run(["podman", "logs", "--tail", str(lines), name], capture_output=True, text=True, timeout=30,
                              env=self.environment, check=False)
        return done.stdout + done.stderr

    # --- podman-compose ----------------------------------------------------------------------------------------------

    def compose(self, project: str, file: pathlib.Path, variables: dict[str, str], *words: str, seconds: float = 300,
                record: bool = True) -> str:
        """podman-compose on the unchanged file. Each `podman run` that it calls is recorded, to start more instances (record-podman)."""
        recorder = ["--podman-path", str(HERE / "record-podman")] if record else []
        command = [PODMAN_COMPOSE, *recorder, "-p", project, "-f", str(file), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, cwd=file.parent,
                              env={**self.environment, **variables, "RECORDED_COMMANDS": str(self.folder / f"{project}.commands")}, check=False)
        if done.returncode != 0 or "Traceback" in done.stderr:
            raise EngineError(f"podman-compose {' '.join(words)}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout + done.stderr

    def recorded(self, project: str) -> dict[str, list[str]]:
        """The last `podman run` of each service's first container, by service."""
        found: dict[str, list[str]] = {}
        path = self.folder / f"{project}.commands"
        for line in path.read_text().splitlines() if path.exists() else []:
            words = json.loads(line)
            if words[:1] == ["run"]:
                labels = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "--label"]
                for label in labels:
                    if label.startswith(SERVICE_LABEL + "="):
                        found[label.split("=", 1)[1]] = words
        return found

    # --- clean-up ----------------------------------------------------------------------------------------------------

    def remove(self, project: str, volumes: bool) -> None:
        """Removes everything with the project's label, and nothing else."""
        names = [one.name for one in self.containers(project)]
        if names:
            self.run("rm", "--force", "--time", 0, *names, check=False)
        for network in self.networks(project):
            self.run("network", "rm", "--force", network, check=False)
        for volume in self.volumes(project) if volumes else []:
            self.run("volume", "rm", "--force", volume, check=False)
