"""One redis-server process on its own ports, with the settings that the services require."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import random
import signal
import socket
import time

import redis

from SystemTests.faults.process import Process

# Below the ports that the kernel assigns to outgoing connections, so that the port of a killed server stays free.
FIRST_PORT, PORTS_EACH = 28_000, 1_500
USER = "attribution"


@dataclasses.dataclass(frozen=True)
class TLSFiles:
    """One certificate for servers and clients, and the authority that both trust."""

    authority: pathlib.Path
    certificate: pathlib.Path
    key: pathlib.Path


@dataclasses.dataclass(frozen=True)
class Settings:
    """The common settings of all nodes of a deployment."""

    node_timeout: int = 2_000
    # A primary with fewer replicas refuses writes.
    min_replicas: int = 0
    # If it is set, services use an ACL user with this password, and nodes use it among themselves.
    password: str = ""
    tls: TLSFiles | None = None
    more: tuple[str, ...] = ()

    def words(self) -> list[str]:
        words = ["--appendonly", "yes", "--appendfsync", "always", "--no-appendfsync-on-rewrite", "no", "--save", "",
                 "--maxmemory-policy", "noeviction", "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1",
                 "--min-replicas-to-write", str(self.min_replicas), "--min-replicas-max-lag", "2"]
        if self.password:
            words += ["--requirepass", self.password, "--masterauth", self.password, "--user", USER, "on", f">{self.password}", "~*",
                      "resetchannels", "&{attr:*", "+@all", "-@admin", "-@dangerous", "+config|get", "+info", "+role", "+cluster|slots"]
        else:
            words += ["--protected-mode", "no"]
        if self.tls:
            words += ["--tls-cert-file", str(self.tls.certificate), "--tls-key-file", str(self.tls.key),
                      "--tls-ca-cert-file", str(self.tls.authority), "--tls-auth-clients", "yes", "--tls-replication", "yes"]
        return [*words, *self.more]

    def client(self, host: str, port: int, **more: object) -> redis.Redis:
        """A client with the nodes' own user, which has all permissions."""
        if self.tls:
            more |= {"ssl": True, "ssl_ca_certs": str(self.tls.authority), "ssl_certfile": str(self.tls.certificate),
                     "ssl_keyfile": str(self.tls.key)}
        return redis.Redis(host=host, port=port, password=self.password or None, socket_timeout=30, socket_connect_timeout=2, **more)

    def cli_words(self) -> list[str]:
        words = ["--no-auth-warning", "-a", self.password] if self.password else []
        if self.tls:
            words += ["--tls", "--cacert", str(self.tls.authority), "--cert", str(self.tls.certificate), "--key", str(self.tls.key)]
        return words

    def url(self, scheme: str, addresses: list[str], path: str = "") -> str:
        credentials = f"{USER}:{self.password}@" if self.password else ""
        return f"{'rediss' if self.tls else 'redis'}{scheme}://{credentials}{','.join(addresses)}{path}"

    def variables(self) -> dict[str, str]:
        """Variables for a service's environment, in addition to the URL."""
        if not self.tls:
            return {}
        return {"ATTRIBUTION_REDIS_CA_FILE": str(self.tls.authority), "ATTRIBUTION_REDIS_CERTIFICATE": str(self.tls.certificate),
                "ATTRIBUTION_REDIS_KEY": str(self.tls.key)}


def free_ports(count: int) -> list[int]:
    """This number of ports that are free now. Each parallel process of the tests uses its own range."""
    first = FIRST_PORT + PORTS_EACH * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 3)
    found: list[int] = []
    begin = random.randrange(PORTS_EACH)
    for offset in range(PORTS_EACH):
        port = first + (begin + offset) % PORTS_EACH
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise RuntimeError("no free ports")


class RedisNode(Process):
    """`prefix` is the command that runs it in another environment, such as a network namespace."""

    def __init__(self, folder: pathlib.Path, name: str, settings: Settings, host: str, port: int, more: list[str], prefix: list[str]) -> None:
        self.folder, self.settings, self.host, self.port = folder / name, settings, host, port
        self.folder.mkdir(parents=True, exist_ok=True)
        ports = ["--port", "0", "--tls-port", str(port)] if settings.tls else ["--port", str(port)]
        super().__init__(name, [*prefix, "redis-server", *ports, "--bind", host, "--dir", str(self.folder), *settings.words(), *more],
                         dict(os.environ), folder / f"{name}.log")
        self.client = settings.client(host, port)

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def wait_until_it_answers(self, seconds: float = 30) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if self.client.ping():
                    return
            except redis.BusyLoadingError:
                pass
            except redis.RedisError:
                if not self.is_running():
                    break
            time.sleep(0.02)
        raise RuntimeError(f"{self.name} does not answer: {self.log()[-2000:]}")

    def role(self) -> str:
        """`master`, `slave`, or an empty string if it does not answer."""
        try:
            return self.client.execute_command("ROLE")[0].decode()
        except redis.RedisError:
            return ""

    def is_in_sync(self) -> bool:
        """For a replica: whether it follows its primary without a gap."""
        try:
            found = self.client.info("replication")
        except redis.RedisError:
            return False
        return found["role"] == "slave" and found["master_link_status"] == "up"

    def kill(self) -> None:
        """Sends SIGKILL; the node stays down until `start`."""
        self.signal(signal.SIGKILL)
        self.process.wait()

    def end(self, timeout: float = 10) -> None:
        self.client.close()
        super().end(timeout)
