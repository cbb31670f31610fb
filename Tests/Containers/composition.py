"""The composed system: started from the unchanged compose file, with its own project name, ports and volumes. Instances are
added, replaced, killed and disconnected. The balancer's view of them is read from its statistics."""

from __future__ import annotations

import csv
import dataclasses
import http.client
import io
import json
import os
import pathlib
import socket
import time
from collections.abc import Callable, Iterable

import yaml

from .engine import Engine, EngineError

SERVICES = ("signer", "verifier", "ingest", "notification-recovery", "asa-token-broker")
# Seconds after the last start in which its effects end (`wait_until_served`).
SETTLING = 8
# The variables of the compose file that set its published ports.
PORTS = {"public": "PUBLIC_PORT", "ingest": "INGEST_PORT", "signer": "SIGNER_PORT", "verifier": "VERIFIER_PORT",
         "notification-recovery": "NOTIFICATION_RECOVERY_PORT", "asa-token-broker": "ASA_TOKEN_BROKER_PORT",
         "simulator": "SIMULATOR_PORT", "statistics": "BALANCER_STATS_PORT"}
BACKENDS = {"ingest": ("ingest_public", "ingest")}
# Longer than the drain delay and the work that may follow it: stop_grace_period of the compose file, which podman-compose 1.0.3 ignores.
GRACE = 40


def wait_until(what: str, condition: Callable[[], object], seconds: float, pause: float = 0.1) -> float:
    """Waits for a condition; returns the duration."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            raise TimeoutError(f"not within {seconds:g} s: {what}")
        time.sleep(pause)
    return time.monotonic() - began


@dataclasses.dataclass(frozen=True)
class Instance:
    service: str
    name: str


class Composition:
    def __init__(self, engine: Engine, file: pathlib.Path, project: str, port_base: int, variables: dict[str, str],
                 others: Iterable[str] = ()) -> None:
        """`others`: services in addition to the five, Redis and the balancer, such as those of a profile."""
        self.engine, self.file, self.project, self.others = engine, file, project, tuple(others)
        self.ports = {name: port_base + number for number, name in enumerate(PORTS)}
        self.variables = {**variables, **{variable: str(self.ports[name]) for name, variable in PORTS.items()}}
        self.cores: dict[str, float] = {}

    # --- the whole system --------------------------------------------------------------------------------------------

    def compose(self, *words: str, seconds: float = 300) -> str:
        return self.engine.compose(self.project, self.file, self.variables, *words, seconds=seconds)

    def set_up(self) -> None:
        """Runs `setup` to its end before anything else starts, as `depends_on` with its condition does in Docker."""
        self.compose("up", "--detach", "--no-build", "setup")
        name = self.name_of("setup", 1)
        wait_until("setup ends", lambda: not self.engine.inspect(name)["State"]["Running"], 120)
        state = self.engine.inspect(name)["State"]
        if state["ExitCode"] != 0:
            raise EngineError(f"setup ended with {state['ExitCode']}: {self.engine.logs(name)}")

    def start(self, others: Iterable[str] = ()) -> None:
        """Names each service, because podman-compose has no profiles and would start the services of all of them."""
        self.compose("up", "--detach", "--no-build", "redis", *SERVICES, "balancer", *others)
        running = {one.service for one in self.engine.containers(self.project) if one.is_running}
        missing = {"redis", *SERVICES, "balancer", *others} - running
        if missing:
            raise EngineError(f"not running: {sorted(missing)}\n" + "".join(self.engine.logs(self.name_of(one, 1)) for one in missing))

    def bring_up(self) -> None:
        if "setup" in self.services():
            self.set_up()
        self.start(self.others)

    def content(self) -> dict:
        return yaml.safe_load(self.file.read_text())

    def services(self) -> dict:
        return self.content()["services"]

    def named_volumes(self) -> list[str]:
        return [f"{self.project}_{name}" for name in self.content().get("volumes") or {}]

    def wait_until_served(self, seconds: float = 90) -> float:
        """Waits until the balancer has every instance and the effects of the start are over: image layers are still being written to the
        disk that Redis syncs, and the name server loses queries while it reads its file again for each new container."""
        began = time.monotonic()
        instances = [instance for service in SERVICES for instance in self.instances(service)]
        for instance in instances:
            self.wait_until_balanced(instance, seconds)
        served = time.monotonic() - began
        os.sync()
        time.sleep(SETTLING)
        for instance in instances:
            self.wait_until_balanced(instance, seconds)
        return served

    def down(self) -> None:
        """`compose down` as Docker does it: podman-compose 1.0.3 stops containers one after the other, and does not remove networks and
        containers that are not in the file."""
        services = [instance.name for service in SERVICES for instance in self.instances(service)]
        if services:
            self.engine.run("stop", "--time", GRACE, *services, seconds=GRACE * 2)
        self.compose("down", "--timeout", str(GRACE))
        self.engine.remove(self.project, volumes=False)

    def remove(self) -> None:
        self.engine.remove(self.project, volumes=True)

    # --- instances ---------------------------------------------------------------------------------------------------

    def name_of(self, service: str, number: int) -> str:
        return f"{self.project}_{service}_{number}"

    def instances(self, service: str) -> list[Instance]:
        found = [Instance(one.service, one.name) for one in self.engine.containers(self.project) if one.service == service]
        return sorted(found, key=lambda one: int(one.name.rsplit("_", 1)[1]))

    def add(self, service: str) -> Instance:
        """Starts one more instance with the command that started the first, as Docker's `up --scale` does."""
        number = 1 + max([int(one.name.rsplit("_", 1)[1]) for one in self.instances(service)], default=0)
        words, first, name = [], self.name_of(service, 1), self.name_of(service, number)
        for word in self.engine.recorded(self.project)[service]:
            if word == f"--name={first}":
                words.append(f"--name={name}")
            elif word.startswith("com.docker.compose.container-number="):
                words.append(f"com.docker.compose.container-number={number}")
            else:
                words.append(word)
        self.engine.run(*words)
        return Instance(service, name)

    def scale(self, service: str, count: int) -> None:
        """Scales a service to this number of instances, all of them used by the balancer; the newest are removed first."""
        instances = self.instances(service)
        for _ in range(count - len(instances)):
            self.add(service)
        self.retire(*instances[count:])
        for instance in self.instances(service):
            self.wait_until_balanced(instance)
            self.limit(instance)

    def limit(self, instance: Instance) -> None:
        if instance.service in self.cores:
            self.engine.limit(instance.name, self.cores[instance.service])

    def retire(self, *instances: Instance) -> None:
        """Sends SIGTERM to the instances, and waits until each has ended with exit code 0."""
        if not instances:
            return
        names = [instance.name for instance in instances]
        self.engine.run("stop", "--time", GRACE, *names)
        for name in names:
            code = int(self.engine.inspect(name)["State"]["ExitCode"])
            if code != 0:
                raise EngineError(f"{name} ended with {code}:\n{self.engine.logs(name)}")
        self.engine.run("rm", *names)

    def networks_of(self, instance: Instance) -> dict[str, str]:
        """The addresses of the instance, by network."""
        return {name: one["IPAddress"] for name, one in self.engine.inspect(instance.name)["NetworkSettings"]["Networks"].items()}

    def cut(self, instance: Instance) -> list[str]:
        """Disconnects the instance from its networks, as if its host lost the connection; returns their names."""
        networks = list(self.networks_of(instance))
        for network in networks:
            self.engine.run("network", "disconnect", network, instance.name)
        return networks

    def reconnect(self, instance: Instance, networks: Iterable[str]) -> None:
        for network in networks:
            self.engine.run("network", "connect", "--alias", instance.service, network, instance.name)

    # --- the balancer ------------------------------------------------------------------------------------------------

    def statistics(self) -> list[dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["statistics"], timeout=5)
        try:
            connection.request("GET", "/stats;csv")
            text = connection.getresponse().read().decode()
        finally:
            connection.close()
        return list(csv.DictReader(io.StringIO(text.removeprefix("# "))))

    def servers(self, backend: str) -> dict[str, str]:
        """The balancer's state of each instance that has an address, by this address without the port."""
        return {line["addr"].rsplit(":", 1)[0]: line["status"] for line in self.statistics()
                if line["pxname"] == backend and line["svname"] not in ("FRONTEND", "BACKEND") and line["addr"]}

    def set_server_state(self, backend: str, addresses: set[str], state: str) -> None:
        """Sets `ready` or `maint`, over the control socket, for the server with one of these addresses."""
        name = next(line["svname"] for line in self.statistics()
                    if line["pxname"] == backend and line["addr"].rsplit(":", 1)[0] in addresses)
        process = self.engine.process(self.instances("balancer")[0].name)
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(5)
            # The socket is in the container's own file system.
            control.connect(f"/proc/{process}/root/run/haproxy/control.sock")
            control.sendall(f"set server {backend}/{name} state {state}\n".encode())
            if answer := control.recv(1000).decode().strip():
                raise EngineError(f"the balancer: {answer}")

    def is_balanced(self, instance: Instance) -> bool:
        addresses = set(self.networks_of(instance).values())
        try:
            return all(any(self.servers(backend).get(address, "").startswith("UP") for address in addresses)
                       for backend in BACKENDS.get(instance.service, (instance.service,)))
        except (OSError, http.client.HTTPException):
            return False

    def wait_until_balanced(self, instance: Instance, seconds: float = 60) -> float:
        try:
            return wait_until(f"{instance.name} is used by the balancer", lambda: self.is_balanced(instance), seconds, 0.2)
        except TimeoutError as error:
            shown = {backend: self.servers(backend) for backend in BACKENDS.get(instance.service, (instance.service,))}
            raise TimeoutError(f"{error}; {self.networks_of(instance)}; the balancer has {json.dumps(shown)}\n"
                               f"{self.engine.logs(instance.name, 15)}") from None

    def wait_until_gone(self, instance: Instance, addresses: set[str], seconds: float = 30) -> float:
        """Waits until the balancer sends nothing to these addresses."""
        def gone() -> bool:
            return not any(self.servers(backend).get(address, "").startswith("UP")
                           for backend in BACKENDS.get(instance.service, (instance.service,)) for address in addresses)
        return wait_until(f"{instance.name} is no longer used by the balancer", gone, seconds, 0.1)
