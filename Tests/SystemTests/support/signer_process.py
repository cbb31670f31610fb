"""A signer process for one test, with its keys, configuration and port."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import pathlib
import signal
import subprocess
import time

from .free_ports import free_port

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = ROOT / ".build" / os.environ.get("BUILD_CONFIGURATION", "debug") / "signer"
TOKEN = "a-token-of-the-tests-0123456789"
SERVICE = "attribution.signer.v1.SignerService"


def make_key(path: pathlib.Path, curve: str = "prime256v1") -> pathlib.Path:
    subprocess.run(["openssl", "ecparam", "-name", curve, "-genkey", "-noout", "-out", path], check=True, capture_output=True)
    path.chmod(0o600)
    return path


class SignerProcess:
    def __init__(self, folder: pathlib.Path, configuration: str, limits: tuple[int, int] | None = None, port: int | None = None,
                 **variables: str) -> None:
        """`limits`: the soft and hard limits of open files."""
        self.folder, self.port = folder, port or free_port()
        self.path = folder / "configuration.yaml"
        self.write(configuration)
        self.log_path = folder / "signer.log"
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ATTRIBUTION_")}
        limited = [] if limits is None else ["prlimit", f"--nofile={limits[0]}:{limits[1]}", "--"]
        self.process = subprocess.Popen(
            [*limited, BINARY], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log_path.open("ab"),
            env={**environment, "ATTRIBUTION_CONFIG": str(self.path), "ATTRIBUTION_LISTEN": f"127.0.0.1:{self.port}",
                 "ATTRIBUTION_DRAIN_DELAY_MS": "100", **variables})

    def write(self, configuration: str) -> None:
        digest = hashlib.sha256(TOKEN.encode()).hexdigest()
        self.path.write_text(configuration + f'\nclients: [ {{ name: tests, tokenSHA256: "{digest}", allow: ["*"] }} ]\n')

    def __enter__(self) -> SignerProcess:
        for _ in range(300):
            if self.process.poll() is not None:
                raise RuntimeError(self.log())
            try:
                if self.get("/startupz")[0] == 200:
                    return self
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the signer did not start: " + self.log())

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def end_of_start(self, seconds: float = 30) -> tuple[int, str]:
        """For a signer that must not start: its exit code and its last output."""
        try:
            return self.process.wait(seconds), self.log()
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the signer started: " + self.log()) from None

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, body

    def rpc(self, method: str, message: dict, connection: http.client.HTTPConnection | None = None) -> tuple[int, dict]:
        own = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        own.request("POST", f"/{SERVICE}/{method}", json.dumps(message),
                    {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
        response = own.getresponse()
        answer = json.loads(response.read())
        if connection is None:
            own.close()
        return response.status, answer

    def metric(self, name: str) -> dict[str, float]:
        """The series of one metric: its labels as text, and its value."""
        lines = [line for line in self.get("/metrics")[1].splitlines() if line.startswith((name + "{", name + " "))]
        return {line[len(name):].rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines}

    def reload(self, configuration: str) -> None:
        """Writes the configuration, sends SIGHUP and waits until the signer reports the result."""
        name = "attribution_configuration_reloads_total"
        before = sum(self.metric(name).values())
        self.write(configuration)
        self.process.send_signal(signal.SIGHUP)
        for _ in range(200):
            if sum(self.metric(name).values()) > before:
                return
            time.sleep(0.02)
        raise AssertionError("SIGHUP had no effect: " + self.log())
