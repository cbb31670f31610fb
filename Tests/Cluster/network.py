"""Simulated hosts, each a network namespace, that can be disconnected from each other."""

from __future__ import annotations

import ctypes
import os
import pathlib
import subprocess
import threading
import uuid
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
CLONE_NEWNET = 0x40000000
# An address range that is only used within the namespaces.
NETWORK = "10.213.0"


def ip(*words: str) -> None:
    run = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"ip {' '.join(words)}: {run.stderr.strip()}")


def reason_against() -> str:
    """The reason why namespaces cannot be created here; empty if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = f"attribution-{uuid.uuid4().hex[:8]}"
    try:
        ip("netns", "add", name)
        try:
            ip("-n", name, "link", "add", "bridge", "type", "bridge")
        finally:
            ip("netns", "del", name)
    except (OSError, RuntimeError) as error:
        return f"no network namespaces here: {error}"
    return ""


class Host:
    def __init__(self, namespace: str, address: str) -> None:
        self.namespace, self.address = namespace, address

    @property
    def prefix(self) -> list[str]:
        """The prefix that runs a command in the namespace, as the same process."""
        return ["ip", "netns", "exec", self.namespace]


class Network:
    """A switch with hosts, each in a network namespace; the test itself is connected to the switch too."""

    def __init__(self, hosts: int) -> None:
        mark = uuid.uuid4().hex[:6]
        self.switch = f"attribution-{mark}"
        self.hosts = [Host(f"{self.switch}-{number}", f"{NETWORK}.{number}") for number in range(1, hosts + 1)]

    def __enter__(self) -> Network:
        try:
            ip("netns", "add", self.switch)
            ip("-n", self.switch, "link", "add", "switch", "type", "bridge")
            ip("-n", self.switch, "addr", "add", f"{NETWORK}.254/24", "dev", "switch")
            for name in ("lo", "switch"):
                ip("-n", self.switch, "link", "set", name, "up")
            for number, host in enumerate(self.hosts):
                ip("netns", "add", host.namespace)
                ip("-n", self.switch, "link", "add", f"port{number}", "type", "veth", "peer", "name", "outside", "netns", host.namespace)
                ip("-n", self.switch, "link", "set", f"port{number}", "master", "switch", "up")
                ip("-n", host.namespace, "addr", "add", f"{host.address}/24", "dev", "outside")
                for name in ("lo", "outside"):
                    ip("-n", host.namespace, "link", "set", name, "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in [*(host.namespace for host in self.hosts), self.switch]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    def run(self, work: Callable[[], Answer]) -> Answer:
        """Runs the work in the switch's namespace: its connections, and those of all processes and threads that it starts, begin there."""
        answers: list[Answer] = []
        errors: list[BaseException] = []

        def body() -> None:
            try:
                with pathlib.Path("/var/run/netns", self.switch).open() as namespace:
                    if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET) != 0:
                        raise OSError(ctypes.get_errno(), "setns")
                answers.append(work())
            except BaseException as error:  # noqa: BLE001 raised again below, where it is waited for
                errors.append(error)

        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
        if errors:
            raise errors[0]
        return answers[0]

    def cut(self, one: Host, other: Host) -> None:
        """Drops all traffic between them, in both directions and silently."""
        ip("-n", one.namespace, "route", "add", "blackhole", f"{other.address}/32")
        ip("-n", other.namespace, "route", "add", "blackhole", f"{one.address}/32")

    def reconnect(self, one: Host, other: Host) -> None:
        ip("-n", one.namespace, "route", "del", "blackhole", f"{other.address}/32")
        ip("-n", other.namespace, "route", "del", "blackhole", f"{one.address}/32")
