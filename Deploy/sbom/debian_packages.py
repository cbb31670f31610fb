"""What dpkg's status file says of the packages that an image holds."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote


class StatusError(Exception):
    """A status file that is not what it should be."""


@dataclass(frozen=True)
class DebianPackage:
    name: str
    version: str
    architecture: str
    source: str
    source_version: str
    depends: tuple[tuple[str, ...], ...]
    provides: tuple[str, ...]
    homepage: str

    def purl(self, distribution: str) -> str:
        """pkg:deb/debian/…; the version is escaped as package URLs want it, which leaves a colon as it is."""
        qualifiers = f"arch={self.architecture}" + (f"&distro={distribution}" if distribution else "")
        return f"pkg:deb/debian/{quote(self.name, safe='')}@{quote(self.version, safe=':')}?{qualifiers}"


def _stanzas(text: str) -> list[dict[str, str]]:
    stanzas: list[dict[str, str]] = []
    for block in re.split(r"\n[ \t]*\n", text):
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if line[:1] in (" ", "\t"):
                if name:
                    fields[name] += "\n" + line
            elif ":" in line:
                name, _, value = line.partition(":")
                name = name.lower()
                fields[name] = value.strip()
        if fields:
            stanzas.append(fields)
    return stanzas


def _relations(text: str) -> tuple[tuple[str, ...], ...]:
    """`a (>= 1) | b, c:any` as the names of alternatives."""
    found: list[tuple[str, ...]] = []
    for group in text.replace("\n", " ").split(","):
        names = tuple(re.split(r"[\s(:\[]", one.strip(), maxsplit=1)[0] for one in group.split("|") if one.strip())
        if names:
            found.append(names)
    return tuple(found)


def _text(path: Path) -> str:
    """The status file, or all files of a directory of them (status.d of images without dpkg)."""
    try:
        if path.is_dir():
            files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.endswith(".md5sums"))
            return "\n\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as reason:
        raise StatusError(f"cannot read {path}: {reason.strerror}") from reason


def installed_packages(path: Path) -> list[DebianPackage]:
    """The installed packages, by name. Removed ones, whose configuration alone remains, are left out."""
    packages: list[DebianPackage] = []
    for fields in _stanzas(_text(path)):
        if "package" not in fields:
            raise StatusError(f"{path}: an entry has no package name; is this dpkg's status file?")
        name = fields["package"]
        if fields.get("status", "install ok installed").split()[-1] != "installed":
            continue
        for needed in ("version", "architecture"):
            if not fields.get(needed):
                raise StatusError(f"{path}: {name} has no {needed}")
        source = re.fullmatch(r"(\S+)(?:\s+\((\S+)\))?", fields.get("source", name))
        packages.append(
            DebianPackage(
                name=name,
                version=fields["version"],
                architecture=fields["architecture"],
                source=source.group(1) if source else name,
                source_version=(source.group(2) if source else None) or fields["version"],
                depends=_relations(fields.get("pre-depends", "")) + _relations(fields.get("depends", "")),
                provides=tuple(names[0] for names in _relations(fields.get("provides", ""))),
                homepage=fields.get("homepage", ""),
            )
        )
    if not packages:
        raise StatusError(f"{path}: no installed package")
    return sorted(packages, key=lambda package: (package.name, package.architecture))


def distribution_of(packages: list[DebianPackage]) -> str:
    """`debian-12` from the version of base-files, which follows the release; empty where it does not tell."""
    for package in packages:
        if package.name == "base-files" and (major := re.match(r"(\d+)(?:\D|$)", package.version)):
            return f"debian-{major.group(1)}"
    return ""


def dependencies(packages: list[DebianPackage]) -> list[tuple[DebianPackage, DebianPackage]]:
    """Who depends on whom, by the first alternative that is installed under its own name or is provided by another."""
    own: dict[str, DebianPackage] = {}
    provided: dict[str, DebianPackage] = {}
    for package in packages:
        own.setdefault(package.name, package)
        for name in package.provides:
            provided.setdefault(name, package)
    pairs: set[tuple[int, int]] = set()
    place = {id(package): index for index, package in enumerate(packages)}
    for package in packages:
        for alternatives in package.depends:
            found = next((own.get(name) or provided.get(name) for name in alternatives if name in own or name in provided), None)
            if found is not None and found is not package:
                pairs.add((place[id(package)], place[id(found)]))
    return [(packages[one], packages[other]) for one, other in sorted(pairs)]
