"""The list of packages itself: its content, its licences, and how Debian's names are read."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import debian_packages
import licences
import swift_packages

from .sbom_bench import LIBRARIES, PINNED, Bench, assert_valid_spdx

ROOT = Path(__file__).resolve().parents[3]
SBOM = ROOT / "Deploy" / "sbom"

CHECKOUTS = ROOT / ".build" / "checkouts"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# The list itself


def directly_needed() -> dict[str, tuple[str, str]]:
    """Location and version of the packages in Package.swift, as `exact:` or `from:`, by identity."""
    # What a variable of the environment adds is not built into anything.
    text = (ROOT / "Package.swift").read_text().split("if Context.environment")[0]
    found = re.findall(r'\.package\(\s*url:\s*"([^"]+)",\s*(?:exact|from):\s*"([^"]+)"', text)
    assert len(found) == len(re.findall(r"\.package\(\s*url:", text)), "a dependency is written in another form"
    return {re.sub(r"\.git$", "", url).rsplit("/", 1)[1].lower(): (url, version) for url, version in found}


def test_direct_dependencies_are_in_the_list() -> None:
    pinned = {one["identity"]: one for one in PINNED["swiftPackages"]}
    direct = directly_needed()
    assert direct
    for identity, (url, version) in direct.items():
        assert (pinned[identity]["url"], pinned[identity]["version"]) == (url, version)
    assert {one["identity"] for one in PINNED["swiftPackages"] if one["direct"]} == set(direct)


def test_linked_system_libraries_are_in_the_list() -> None:
    owners = {"crypto": "libssl3", "hiredis": "libhiredis0.14", "curl": "libcurl4", "z": "zlib1g"}
    text = (ROOT / "Package.swift").read_text()
    named = set(re.findall(r'\.linkedLibrary\("([^"]+)"\)', text))
    for module in (ROOT / "Shared").glob("C*/**/module.modulemap"):
        named |= set(re.findall(r'^\s*link "([^"]+)"', module.read_text(), re.MULTILINE))
    assert named and {owners[name] for name in named} <= set(LIBRARIES)


@pytest.mark.skipif(not (ROOT / ".build" / "workspace-state.json").is_file(), reason="nothing was resolved here")
def test_the_list_matches_the_packages_that_this_build_resolved() -> None:
    swift_packages.compare(swift_packages.read_pinned(), swift_packages.read_resolved(ROOT / ".build" / "workspace-state.json"))


@pytest.mark.skipif(not CHECKOUTS.is_dir(), reason="no checkouts")
@pytest.mark.parametrize("entry", PINNED["swiftPackages"], ids=lambda entry: entry["identity"])
def test_the_licence_of_a_package_is_that_of_its_checkout(entry: dict[str, Any]) -> None:
    folder = next(one for one in CHECKOUTS.iterdir() if one.name.lower() == entry["url"].removesuffix(".git").rsplit("/", 1)[1].lower())
    text = next(folder.glob("LICENSE*")).read_text()
    if re.search(r"Apache License\s+Version 2\.0, January 2004", text):
        exception = "you may redistribute such product without providing attribution" in text
        assert entry["license"] == ("Apache-2.0 WITH Swift-exception" if exception else "Apache-2.0")
    else:
        assert "Permission is hereby granted, free of charge" in text and entry["license"] == "MIT"
        assert any("Permission is hereby granted" in notice for notice in entry["notices"])
    words = " ".join(re.sub(r"(?m)^// ?", "", "\n".join(one.read_text() for one in folder.glob("NOTICE*"))).split())
    if words:
        assert entry["copyright"] in words
    for one in entry.get("bundled", []):
        assert (folder / one["path"]).exists()


@pytest.mark.skipif(not (ROOT / ".build" / "release.yaml").is_file() or not CHECKOUTS.is_dir(), reason="no release build")
@pytest.mark.parametrize(
    "executable, group", [("signer", "services"), ("verifier", "services"), ("ingest", "services"), ("apple-simulator", "simulator")]
)
def test_packages_listed_as_linked_are_those_that_the_build_links(executable: str, group: str) -> None:
    """Each module of the link command belongs to a package whose entry names it, and no entry names another module."""
    manifest = (ROOT / ".build" / "release.yaml").read_text()
    command = re.search(rf'\n  "C\.{executable}-[^"]*-release\.exe":\n(.*?)(?=\n  "|\Z)', manifest, re.DOTALL)
    assert command is not None
    modules = set(re.findall(r"/release/([A-Za-z0-9_]+)\.build/", command.group(1)))
    # If a module's folder has another name, or two packages have a folder of this name.
    known = {"SystemPackage": "swift-system", "ServiceContextModule": "swift-service-context"}
    owners = {folder.name: checkout.name.lower() for checkout in CHECKOUTS.iterdir() for folder in (checkout / "Sources").glob("*/")}
    found = {known.get(module) or owners[module] for module in modules if module in owners or module in known}
    assert found == {one["identity"] for one in PINNED["swiftPackages"] if {group, executable} & set(one["linked"])}


# Parts


@pytest.mark.parametrize(
    "debian, spdx",
    [
        ("GPL-2", "GPL-2.0-only"),
        ("GPL-2.0+", "GPL-2.0-or-later"),
        ("LGPL-2.1+", "LGPL-2.1-or-later"),
        ("GFDL-1.3+", "GFDL-1.3-or-later"),
        ("GFDL-NIV-1.3", "GFDL-1.3-no-invariants-only"),
        ("Expat", "MIT"),
        ("GPL-1+ or Artistic-2.0", "Artistic-2.0 OR GPL-1.0-or-later"),
        ("GPL-2 and Expat or ISC", "GPL-2.0-only AND MIT OR ISC"),
        ("GPL-2 or Expat, and ISC", "(GPL-2.0-only OR MIT) AND ISC"),
        ("GPL-2+ with libtool exception", "GPL-2.0-or-later WITH Libtool-exception"),
    ],
)
def test_debians_licence_names_become_spdx_ids(debian: str, spdx: str) -> None:
    found = licences.spdx_expression(debian)
    assert sorted(re.split(r" (AND|OR) ", found)) == sorted(re.split(r" (AND|OR) ", spdx))
    from license_expression import get_spdx_licensing

    licensing = get_spdx_licensing()
    assert licensing.validate(found).errors == []
    assert licensing.is_equivalent(found, spdx)


@pytest.mark.parametrize(
    "debian", ["GPL", "GPL-7", "Artistic", "public-domain", "GPL-2+ with odd exception", "GPL-2 and custom", "", "LGPL-1+"]
)
def test_a_licence_name_without_an_spdx_id_is_refused(debian: str) -> None:
    with pytest.raises(licences.UnknownLicence):
        licences.spdx_expression(debian)


def test_every_licence_id_is_known_to_spdx() -> None:
    from license_expression import get_spdx_licensing

    licensing = get_spdx_licensing()
    for one in set(licences._DEBIAN_NAMES.values()) | licences._OTHER_IDS:
        assert licensing.validate(one).errors == [], one
    for one in licences._EXCEPTIONS.values():
        assert licensing.validate(f"GPL-2.0-only WITH {one}").errors == [], one


def test_a_directory_of_status_files_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("Package: a\nVersion: 1\nArchitecture: all\n")
    (tmp_path / "b").write_text("Package: b\nVersion: 2\nArchitecture: all\n")
    (tmp_path / "b.md5sums").write_text("0123  usr/bin/b\n")
    assert [one.name for one in debian_packages.installed_packages(tmp_path)] == ["a", "b"]


@pytest.mark.skipif(not Path("/var/lib/dpkg/status").is_file(), reason="no Debian system")
def test_the_packages_of_this_system_are_listed(tmp_path: Path) -> None:
    """Hundreds of real packages, with all kinds of copyright files."""
    bench = Bench(tmp_path)
    bench.resolved()
    real = ("--dpkg-status", "/var/lib/dpkg/status", "--doc-root", "/usr/share/doc")
    installed = debian_packages.installed_packages(Path("/var/lib/dpkg/status"))
    service = ("--linked", "services" if set(LIBRARIES) <= {one.name for one in installed} else "none")
    for out in ("one.json", "two.json"):
        done = bench.run(*real, *service, out=out)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    document = json.loads((tmp_path / "one.json").read_text())
    debian = [one for one in document["packages"] if one["SPDXID"].startswith("SPDXRef-Debian-")]
    listed = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\n"], capture_output=True, text=True, check=True
    )
    expected = sorted(line.removeprefix("installed ") for line in listed.stdout.splitlines() if line.startswith("installed "))
    assert sorted(f"{one['name']} {one['versionInfo']}" for one in debian) == expected
    assert any(one["licenseDeclared"] != "NOASSERTION" for one in debian)
    assert_valid_spdx(tmp_path / "one.json")
