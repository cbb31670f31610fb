"""The short form: the programs that read the deployment's files accept them, and an image of given executables is built and started."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable

import yaml

from . import ROOT
from .composition import SERVICES
from .engine import Engine
from .environment import environment_file
from .given import given

DEPLOY = ROOT / "Deploy"
IMAGE = "localhost/attribution-containers-test-short"
SERVICE = "signer"
# By variant of the deployment: the environment files that are read in addition to the compose file.
VARIANTS = {"plain": [], "TLS inside": ["tls.env"], "demo": ["demo.env"], "demo with TLS inside": ["demo.env", "tls.env"]}


def run(executables: pathlib.Path | None) -> int:
    """Returns 0 if all checks pass."""
    executables = (executables or ROOT / ".build" / "debug").resolve()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="containers-test-") as name:
        engine = Engine(pathlib.Path(name))
        steps: list[tuple[str, Callable[[], str]]] = [
            *((f"docker-compose.yml, {way}", lambda files=files: compose_file(engine, pathlib.Path(name), files))
              for way, files in VARIANTS.items()),
            *((f"haproxy -c on {file.name}", lambda file=file: balancer(file, pathlib.Path(name)))
              for file in sorted((DEPLOY / "haproxy").glob("*.cfg"))),
            (f"the image {SERVICE} of given executables", lambda: image(engine, executables, pathlib.Path(name))),
        ]
        for what, step in steps:
            began = time.monotonic()
            try:
                output, is_right = step(), True
            except Exception as error:  # noqa: BLE001 the other steps still run
                output, is_right = f"{type(error).__name__}: {error}", False
            failed += not is_right
            print(f"  {'ok ' if is_right else 'NO '} {what} ({time.monotonic() - began:.1f} s): {output}", flush=True)
    return 1 if failed else 0


def compose_file(engine: Engine, folder: pathlib.Path, files: list[str]) -> str:
    """podman-compose prints the commands that it would run for the file. Each mounted file and environment file must exist."""
    variables: dict[str, str] = {}
    for file in files:
        variables |= environment_file(DEPLOY / "compose" / file)
    variables["ATTRIBUTION_DATA"] = str(folder / "data")
    output = engine.compose("short", ROOT / "docker-compose.yml", variables, "--dry-run", "up", "--detach", "--no-build", seconds=60,
                          record=False)
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    missing = [service for service in (*SERVICES, "setup", "redis", "balancer", "simulator") if f"--name=short_{service}_1" not in output]
    if missing:
        raise RuntimeError(f"podman-compose would not start {missing}")
    words = output.split()
    for at, word in enumerate(words):
        if word == "--env-file" and not pathlib.Path(words[at + 1]).is_file():
            raise RuntimeError(f"there is no {words[at + 1]}")
    if left := [word for word in words if "${" in word]:
        raise RuntimeError(f"not replaced: {left[:3]}")
    return f"{len(services)} services"


def balancer(file: pathlib.Path, folder: pathlib.Path) -> str:
    """HAProxy's own check; certificates that the file names by default are created for it."""
    haproxy = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")
    if not haproxy:
        raise RuntimeError("haproxy is not installed")
    certificate = folder / "public.pem"
    if not certificate.exists():
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        "/CN=short", "-keyout", folder / "key.pem", "-out", folder / "certificate.pem"], check=True, capture_output=True)
        certificate.write_text((folder / "certificate.pem").read_text() + (folder / "key.pem").read_text())
    # The instances that the file names by default do not exist here, and to resolve their names would take time.
    addresses = {name: f"127.0.0.1:{port}" for name, port in re.findall(r'"\$\{(\w+_ADDRESS)-[\w-]+:(\d+)\}"', file.read_text())}
    done = subprocess.run([haproxy, "-c", "-f", file], capture_output=True, text=True, timeout=30, env={
        **os.environ, **addresses, "MAX_CONNECTIONS": "1000", "PUBLIC_CERTIFICATE": str(certificate),
        "CONTROL_SOCKET": str(folder / "control.sock")}, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def swift_runtime(executable: pathlib.Path) -> list[str]:
    """Mounts for the executable of a debug build, which uses Swift's libraries from its toolchain; none for that of a release build."""
    linked = subprocess.run(["ldd", executable], check=True, capture_output=True, text=True, timeout=30).stdout
    folders = {str(pathlib.Path(path).parent) for path in re.findall(r"=> (/\S+)", linked)}
    return [word for folder in sorted(folders) if not folder.startswith(("/lib", "/usr/lib")) for word in ("--volume", f"{folder}:{folder}:ro")]


def image(engine: Engine, executables: pathlib.Path, folder: pathlib.Path) -> str:
    """Builds the image of a service that needs no Redis; checks its version, and that its health check fails without a running instance."""
    options = subprocess.run([DEPLOY / "containers" / "build-options"], check=True, capture_output=True, text=True).stdout.split("\n")
    with given(executables, (SERVICE,)) as which:
        engine.run("build", *(option for option in options if option), *which, "--target", SERVICE, "--tag", IMAGE,
                   "--file", DEPLOY / "Dockerfile", ROOT, seconds=300)
    try:
        version = engine.run("run", "--rm", "--read-only", "--network", "none", "--cap-drop", "all", *swift_runtime(executables / SERVICE),
                             IMAGE, "--version").strip()
        if not version.startswith(f"{SERVICE} "):
            raise RuntimeError(f"--version says {version!r}")
        (folder / "configuration.yaml").write_text("{}\n")
        (folder / "configuration.yaml").chmod(0o644)
        code = engine.code("run", "--rm", "--read-only", "--network", "none", "--cap-drop", "all", "--env",
                           "ATTRIBUTION_CONFIG=/configuration.yaml", "--volume", f"{folder / 'configuration.yaml'}:/configuration.yaml:ro",
                           *swift_runtime(executables / SERVICE), IMAGE, "health")
        if code != 1:
            raise RuntimeError(f"health without a service beside it ended with {code}, not 1")
        user = engine.run("image", "inspect", IMAGE, "--format", "{{.Config.User}} {{.Config.Entrypoint}} {{.Size}}").strip()
        return f"{version}; health answers 1 alone; {user}"
    finally:
        engine.run("rmi", "--force", IMAGE, check=False)
