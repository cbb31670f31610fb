"""The pinned Swift packages, and what a build resolved."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from licences import is_known_expression

PINNED = Path(__file__).resolve().parent / "packages.json"
GROUPS = ("services", "simulator")
# A package that one service alone contains names that service in place of a group.
SERVICES = ("signer", "verifier", "ingest", "notification-recovery", "asa-token-broker")


class SwiftPackageError(Exception):
    """packages.json and what was resolved differ, or one of them cannot be read. One line each."""


@dataclass(frozen=True)
class Bundled:
    """Code of others inside a package."""

    name: str
    license: str
    comment: str


@dataclass(frozen=True)
class PinnedPackage:
    identity: str
    name: str
    version: str
    revision: str
    url: str
    license: str
    linked: tuple[str, ...]
    copyright: str
    notices: tuple[str, ...]
    bundled: tuple[Bundled, ...]

    @property
    def purl(self) -> str:
        address = urlsplit(self.url)
        path = "/".join(quote(part, safe="") for part in address.path.strip("/").split("/"))
        return f"pkg:swift/{address.netloc}/{path}@{quote(self.version, safe=':')}"

    @property
    def concluded(self) -> str:
        """Its own licence and those of the code that it carries."""
        parts = [self.license, *sorted({one.license for one in self.bundled} - {self.license})]
        return " AND ".join(parts)


@dataclass(frozen=True)
class Pinned:
    packages: tuple[PinnedPackage, ...]
    runtime_license: str
    runtime_comment: str
    debian_libraries: dict[str, tuple[str, ...]]


def _same_place(url: str) -> str:
    return re.sub(r"\.git$", "", url.rstrip("/")).lower()


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as reason:
        raise SwiftPackageError(f"cannot read {path}: {reason.strerror}") from reason
    except ValueError as reason:
        raise SwiftPackageError(f"{path} is not JSON: {reason}") from reason


def read_pinned(path: Path = PINNED) -> Pinned:
    content = _read(path)
    faults: list[str] = []
    packages: list[PinnedPackage] = []
    seen: set[str] = set()
    for entry in content.get("swiftPackages", []):
        identity = entry.get("identity", "")
        where = f"{path.name}: {identity or 'an entry'}"
        for needed in ("identity", "name", "version", "revision", "url", "license"):
            if not entry.get(needed):
                faults.append(f"{where} has no {needed}")
        if identity in seen:
            faults.append(f"{where} stands there twice")
        seen.add(identity)
        bundled = tuple(Bundled(one["name"], one.get("license", ""), one.get("comment", "")) for one in entry.get("bundled", []))
        for licence in [entry.get("license", "")] + [one.license for one in bundled]:
            if licence and not is_known_expression(licence):
                faults.append(f"{where}: unknown licence {licence}")
        faults += [f"{where}: {one.name} has no license" for one in bundled if not one.license]
        faults += [
            f"{where}: linked into {group}, which is none of {', '.join(GROUPS + SERVICES)}"
            for group in entry.get("linked", [])
            if group not in GROUPS + SERVICES
        ]
        packages.append(
            PinnedPackage(
                identity=identity,
                name=entry.get("name", ""),
                version=entry.get("version", ""),
                revision=entry.get("revision", ""),
                url=entry.get("url", ""),
                license=entry.get("license", ""),
                linked=tuple(entry.get("linked", [])),
                copyright=entry.get("copyright", ""),
                notices=tuple(entry.get("notices", [])),
                bundled=bundled,
            )
        )
    runtime = content.get("swiftRuntime", {})
    if not is_known_expression(runtime.get("license", "")):
        faults.append(f"{path.name}: swiftRuntime has no known license")
    if not packages:
        faults.append(f"{path.name}: no Swift packages")
    if faults:
        raise SwiftPackageError("\n".join(faults))
    libraries = {group: tuple(content.get("debianLibraries", {}).get(group, [])) for group in GROUPS}
    return Pinned(tuple(sorted(packages, key=lambda one: one.identity)), runtime["license"], runtime.get("comment", ""), libraries)


def _of_workspace(path: Path, content: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    found: dict[str, tuple[str, str, str]] = {}
    for entry in content["object"]["dependencies"]:
        reference, state = entry["packageRef"], entry["state"]
        checkout = state.get("checkoutState", {})
        version = checkout.get("version") or state.get("version")
        if not version:
            kind = checkout.get("branch") or state.get("name", "unknown")
            raise SwiftPackageError(f"{path.name}: {reference['identity']} is resolved to no version ({kind})")
        found[reference["identity"]] = (version, reference["location"], checkout.get("revision", ""))
    return found


def _of_graph(path: Path, content: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    found: dict[str, tuple[str, str, str]] = {}

    def visit(node: dict[str, Any]) -> None:
        for child in node.get("dependencies", []):
            if not re.match(r"\d", child.get("version", "")):
                raise SwiftPackageError(f"{path.name}: {child['identity']} is resolved to no version ({child.get('version')})")
            found[child["identity"]] = (child["version"], child["url"], "")
            visit(child)

    visit(content)
    return found


def read_resolved(path: Path) -> dict[str, tuple[str, str, str]]:
    """Version, location and revision by identity.

    From workspace-state.json, `show-dependencies --format json`, Package.resolved, or packages.json itself.
    """
    content = _read(path)
    try:
        if "swiftPackages" in content:
            return {one["identity"]: (one["version"], one["url"], one.get("revision", "")) for one in content["swiftPackages"]}
        if "object" in content:
            return _of_workspace(path, content)
        if "pins" in content:
            pins = [(one["identity"], one["location"], one["state"]) for one in content["pins"]]
            return {name: (state.get("version", ""), place, state.get("revision", "")) for name, place, state in pins}
        if "dependencies" in content:
            return _of_graph(path, content)
    except (KeyError, TypeError, AttributeError) as reason:
        raise SwiftPackageError(f"{path} is not what SwiftPM writes: {reason!r}") from reason
    raise SwiftPackageError(f"{path} is neither workspace-state.json nor what show-dependencies prints")


def compare(pinned: Pinned, resolved: dict[str, tuple[str, str, str]]) -> None:
    """Raises with one line for each difference."""
    expected = {package.identity: package for package in pinned.packages}
    faults: list[str] = []
    for identity in sorted(expected.keys() | resolved.keys()):
        if identity not in resolved:
            faults.append(f"{identity} {expected[identity].version} is in packages.json and was not resolved")
            continue
        version, location, revision = resolved[identity]
        if identity not in expected:
            faults.append(f"{identity} {version} was resolved and is not in packages.json")
            continue
        package = expected[identity]
        if version != package.version:
            faults.append(f"{identity}: packages.json has version {package.version}, resolved is {version}")
        elif revision and revision != package.revision:
            faults.append(f"{identity} {version}: packages.json has revision {package.revision}, resolved is {revision}")
        if _same_place(location) != _same_place(package.url):
            faults.append(f"{identity}: packages.json has {package.url}, resolved is {location}")
    if faults:
        raise SwiftPackageError("\n".join(faults))


def package_resolved(pinned: Pinned) -> str:
    """A Package.resolved that holds the build to the pinned versions, indirect ones too."""
    pins = [
        {
            "identity": package.identity,
            "kind": "remoteSourceControl",
            "location": package.url,
            "state": {"revision": package.revision, "version": package.version},
        }
        for package in pinned.packages
    ]
    return json.dumps({"pins": pins, "version": 3}, indent=2) + "\n"
