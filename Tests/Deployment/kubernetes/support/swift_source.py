"""Facts that the Swift source, the Dockerfile and the documentation state, read from their text.

Each function fails if the text does not have the expected form, so that a change of the code cannot silently disable a comparison.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]


@cache
def text(path: str) -> str:
    """A file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


def one(pattern: str, path: str, flags: int = 0) -> re.Match[str]:
    """The only match of the pattern in a file."""
    found = list(re.finditer(pattern, text(path), flags))
    assert len(found) == 1, f"{path}: {pattern} matches {len(found)} times"
    return found[0]


SERVICE_NAME = "Shared/AttributionProtocol/ServiceName.swift"
VARIABLES = "Shared/ServiceRuntime/Configuration/ServiceVariables.swift"
SERVICE_MAIN = "Shared/ServiceRuntime/Lifecycle/ServiceMain.swift"
OWNER_ONLY_FILE = "Shared/Cryptography/Keys/OwnerOnlyFile.swift"
ADMINISTRATIVE_PATHS = "Shared/ServiceRuntime/Health/AdministrativePaths.swift"
LIMITS = "Shared/ServiceRuntime/Configuration/Limits.swift"
DOCUMENTATION = "Documentation/configuration.md"
FOLDERS = {
    "signer": "Signer", "verifier": "Verifier", "ingest": "Ingest", "notification-recovery": "NotificationRecovery",
    "asa-token-broker": "ASATokenBroker",
}


@cache
def service_cases() -> dict[str, str]:
    """The name of a service in Swift → its own name."""
    body = one(r"enum ServiceName[^{]*\{(.*?)\n\n", SERVICE_NAME, re.DOTALL)[1]
    cases = {name: raw or name for name, raw in re.findall(r'^  case (\w+)(?: = "([^"]+)")?$', body, re.MULTILINE)}
    assert set(cases.values()) == set(FOLDERS)
    return cases


def services() -> list[str]:
    """The five services."""
    return list(service_cases().values())


@cache
def ports() -> dict[str, int]:
    """Service → internal port."""
    found = dict(re.findall(r"case \.(\w+): (\d+)", text(SERVICE_NAME)))
    return {name: int(found[case]) for case, name in service_cases().items()}


def public_port() -> int:
    """The public port of ingest."""
    return int(one(r"defaultPublicPort = (\d+)", SERVICE_NAME)[1])


def needs_queues() -> set[str]:
    """Services that wait for Redis at start."""
    return set(services()) - {service_cases()[one(r"needsQueues: Bool \{ self != \.(\w+) \}", SERVICE_NAME)[1]]}


def needs_signer() -> set[str]:
    """Services that wait for signer at start."""
    return {service_cases()[one(r"needsSigner: Bool \{ self == \.(\w+) \}", SERVICE_NAME)[1]]}


@cache
def variables() -> set[str]:
    """Every ATTRIBUTION_* variable that the services read."""
    source = text(VARIABLES)
    names: set[str] = set()
    for call in re.finditer(r"(?<!func )(?<!error\.)\b(text|number|flag)\(([^,)]*)", source):
        argument = call[2].strip()
        if match := re.fullmatch(r'"([a-z.]+)"', argument):
            names.add(match[1])
        elif match := re.fullmatch(r'prefix \+ "([a-z.]+)"', argument):
            prefixes = re.findall(r'= try listenerTLS\("([a-z.]+)"\)', source)
            assert len(prefixes) == 2, "listenerTLS is called in another way"
            names |= {prefix + match[1] for prefix in prefixes}
        else:
            # `text(name)` inside of `number` and `flag`.
            assert argument == "name", f"{VARIABLES}: {call[0]}) is read in a way that this test does not know"
    assert len(names) > 20
    return {"ATTRIBUTION_" + name.upper().replace(".", "_") for name in names}


def documented_variables() -> set[str]:
    """The variables of the table in Documentation/configuration.md."""
    table = one(r"## Environment variables\n(.*?)\n## ", DOCUMENTATION, re.DOTALL)[1]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"ATTRIBUTION_[A-Z0-9_]+", row)}


def default_drain_delay() -> int:
    """Milliseconds."""
    return int(one(r'number\("drain\.delay\.ms", ([\d_]+)\)', VARIABLES)[1].replace("_", ""))


def default_start_timeout() -> int:
    """Milliseconds."""
    return int(one(r'number\("start\.timeout\.ms", ([\d_]+)\)', VARIABLES)[1].replace("_", ""))


def shutdown_seconds() -> int:
    """The longest time that a service takes to end, in addition to the drain delay."""
    return int(one(r"maximumGracefulShutdownDuration = \.seconds\((\d+)\) \+ environment\.variables\.drainDelay", SERVICE_MAIN)[1])


def health_paths() -> set[str]:
    """The paths of health and metrics, which need no permission."""
    return set(re.findall(r'case "(/[a-z]+)":', text(ADMINISTRATIVE_PATHS)))


def health_commands() -> dict[str, str]:
    """Arguments of `NAME health` → the path that it requests."""
    path = "Shared/ServiceRuntime/CommandLine/HealthCommand.swift"
    match = one(r'path: live \? "(/\w+)" : "(/\w+)"', path)
    assert one(r'commandName: "(\w+)"', path)[1] == "health"
    return {"health --live": match[1], "health": match[2]}


def health_timeout() -> float:
    """Seconds."""
    return float(one(r"var timeout = ([\d.]+)", "Shared/ServiceRuntime/CommandLine/HealthCommand.swift")[1])


@dataclass(frozen=True)
class FileRule:
    """The files of secrets that a process accepts (OwnerOnlyFile.swift)."""

    private: int
    shared: int

    def takes(self, mode: int, owner: int, group: int, user: int, groups: set[int]) -> bool:
        """Whether a process of `user` and `groups` can read the file and accepts it."""
        readable = mode & 0o400 if owner == user else mode & 0o040 if group in groups else mode & 0o004
        if not (readable or user == 0) or owner not in (user, 0):
            return False
        return mode & self.private == 0 or (user != 0 and owner == 0 and mode & self.shared == 0 and group in groups)


def file_rule() -> FileRule:
    """The rule, with the masks of the source code."""
    private = one(r"guard mode & 0o(\d+) == 0 \|\| isSharedByRoot\(status\) else", OWNER_ONLY_FILE)[1]
    shared = one(r"^    user != 0 && owner == 0 && mode & 0o(\d+) == 0 && groups\.contains\(group\)$", OWNER_ONLY_FILE, re.MULTILINE)[1]
    one(r"guard status\.st_uid == geteuid\(\) \|\| status\.st_uid == 0 else", OWNER_ONLY_FILE)
    return FileRule(int(private, 8), int(shared, 8))


def image_user() -> tuple[int, int]:
    """User and group of the services' images."""
    dockerfile = text("Deploy/Dockerfile")
    users = set(re.findall(r"^USER (\d+)(?::(\d+))?$", dockerfile, re.MULTILINE))
    assert len(users) == 1, f"Deploy/Dockerfile has the users {users}"
    user, group = users.pop()
    assert re.search(rf"useradd .*--uid {user}\b", dockerfile)
    return int(user), int(group or user)


def version() -> str:
    """The version that is built."""
    return one(r'public static let version = "([^"]+)"', "Shared/ServiceRuntime/Lifecycle/BuildInformation.swift")[1]


def body_memory() -> int:
    """Default of limits.bodyMemory, bytes."""
    number, shift = one(r"var bodyMemory = (\d+) << (\d+)", LIMITS).groups()
    return int(number) << int(shift)


@cache
def metrics() -> set[str]:
    """Names of all metrics in the source."""
    found: set[str] = set()
    for folder in ("Shared", "Services"):
        for path in (ROOT / folder).rglob("*.swift"):
            source = path.read_text(encoding="utf-8")
            found |= set(re.findall(r'"((?:attribution|process)_[a-z_]+)"', source))
            if match := re.search(r'for \(name, help\) in \[(.*?)\n\s*\] \{\s*registry\.\w+\("(attribution_\w+_)\\\(name\)"', source, re.DOTALL):
                found |= {match[2] + name for name in re.findall(r'\("(\w+)", "', match[1])}
    assert "attribution_queue_ready" in found and "attribution_signatures_total" in found
    return found


def metric_sources(metric: str) -> set[str]:
    """Services that may have a metric: those in whose folders its name is, or all services if it is in Shared."""
    if any(f'"{metric}"' in path.read_text(encoding="utf-8") for path in (ROOT / "Shared").rglob("*.swift")):
        return set(services())
    return {
        name for name, folder in FOLDERS.items()
        if any(f'"{metric}"' in path.read_text(encoding="utf-8") for path in (ROOT / "Services" / folder).rglob("*.swift"))
    }


def queues() -> set[str]:
    """Names of the queues."""
    return set(re.findall(r"^  case (\w+)$", text("Shared/AttributionQueue/QueueName.swift"), re.MULTILINE))


@cache
def signer_methods_called(service: str) -> set[str]:
    """Full names of signer's methods that another service calls."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "Services" / FOLDERS[service]).rglob("*.swift")]
    if service == "signer":
        return set()
    if service in needs_signer():
        sources.append(text("Shared/ServiceRuntime/Lifecycle/Start/SignerUnavailable.swift"))
    names = {name for source in sources for name in re.findall(r"\.call\(\s*SignerService\.(\w+)\.self", source)}
    if not names:
        assert not any("rpcClient(" in source for source in sources), f"{service} calls another service in a way this test does not know"
    return {f"attribution.signer.v1.SignerService/{name}" for name in names}


@cache
def recovery_methods_called(service: str) -> set[str]:
    """Full names of notification-recovery's methods that another service calls: verifier for its console, ingest for retention messages."""
    if service == "ingest":
        called = one(r"recovery\.call\(\s*RetentionService\.(\w+)\.self", "Services/Ingest/Retention/RecoveryServiceMessageSource.swift")
        return {f"attribution.retention.v1.RetentionService/{called[1]}"}
    if service != "verifier":
        return set()
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "Shared/Console").rglob("*.swift")]
    names = {name for source in sources for name in re.findall(r"\.recovery\(\s*NotificationRecoveryService\.(\w+)\.self", source)}
    assert names
    return {f"attribution.recovery.v1.NotificationRecoveryService/{name}" for name in names}


@cache
def verifier_methods_called(service: str) -> set[str]:
    """Full names of verifier's methods that another service calls: only ingest does, for retention messages."""
    if service != "ingest":
        return set()
    called = one(r"verifier\.call\(\s*VerifierService\.(\w+)\.self", "Services/Ingest/Retention/SubscriptionHistoryReader.swift")
    return {f"attribution.verifier.v1.VerifierService/{called[1]}"}


@cache
def contract() -> set[str]:
    """Full names of all methods of the contract."""
    names: set[str] = set()
    for path in (ROOT / "Shared/AttributionProtocol/Contract").rglob("*.proto"):
        source = path.read_text(encoding="utf-8")
        package = re.search(r"^package ([\w.]+);", source, re.MULTILINE)
        service = re.search(r"^service (\w+)", source, re.MULTILINE)
        if package and service:
            names |= {f"{package[1]}.{service[1]}/{method}" for method in re.findall(r"^  rpc (\w+)\(", source, re.MULTILINE)}
    assert len(names) > 50
    return names
