"""Deploy/sbom: the pinned Swift packages, and the lists of what images hold."""

import copy
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SBOM = ROOT / "Deploy" / "sbom"
CHECKOUTS = ROOT / ".build" / "checkouts"
sys.path.insert(0, str(SBOM))

import debian_packages  # noqa: E402
import licences  # noqa: E402
import swift_packages  # noqa: E402

PINNED: dict[str, Any] = json.loads((SBOM / "packages.json").read_text())
CREATED = "2026-11-24T02:00:00Z"
COMMIT = "0123456789abcdef0123456789abcdef01234567"

LIBRARIES = PINNED["debianLibraries"]["services"]
STATUS = "\n".join(
    [
        "Package: base-files\nStatus: install ok installed\nArchitecture: amd64\nVersion: 12.4+deb12u12\nDepends: awk\n",
        "Package: gone\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 1\n",
        ("Package: mawk\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.3.4\nProvides: awk\n"
        "Pre-Depends: libc6 (>= 2.34)\nDescription: pattern\n with a line: that looks like a field\n"),
        ("Package: odd++\nStatus: install ok installed\nArchitecture: all\nSource: odd (2:1.0~rc1)\nVersion: 2:1.0~rc1+b1\n"
        "Depends: nothing-here | libc6:any, missing\n"),
    ]
    + [f"Package: {name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.0\n" for name in LIBRARIES]
)
DEP5 = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n"


def workspace(packages: list[dict[str, Any]]) -> dict[str, Any]:
    """workspace-state.json as SwiftPM writes it."""
    return {
        "object": {
            "dependencies": [
                {
                    "packageRef": {"identity": one["identity"], "location": one["url"], "name": one["name"], "kind": "remoteSourceControl"},
                    "state": {"name": "sourceControlCheckout", "checkoutState": {"revision": one["revision"], "version": one["version"]}},
                }
                for one in packages
            ]
        },
        "version": 7,
    }


class Bench:
    """A folder with all that the generator is given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.packages: list[dict[str, Any]] = copy.deepcopy(PINNED["swiftPackages"])
        self.status = folder / "status"
        self.status.write_text(STATUS)
        self.doc = folder / "doc"
        self.executable = folder / "signer"
        self.executable.write_bytes(b"an executable")
        self.doc.mkdir()
        self.write_copyright(
            "mawk", DEP5 + "Files: *\nCopyright: a\nLicense: GPL-2\n\nFiles: b\nCopyright: c\nLicense: Expat or BSD-3-clause\n"
        )
        self.write_copyright(
            "odd++", DEP5 + "Files: *\nCopyright: a\nLicense: GPL-2+ and own-words\n\nFiles: d\nCopyright: e\nLicense: ISC\n"
        )
        self.write_copyright("libc6", "This is no machine-readable file.\n")

    def write_copyright(self, package: str, text: str) -> None:
        (self.doc / package).mkdir(exist_ok=True)
        (self.doc / package / "copyright").write_text(text)

    def resolved(self, content: dict[str, Any] | None = None) -> Path:
        path = self.folder / "resolved.json"
        path.write_text(json.dumps(content if content is not None else workspace(self.packages)))
        return path

    def run(
        self, *more: str, out: str = "out.json", service: str = "signer", script: Path = SBOM / "generate"
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(script), "--service", service, "--dpkg-status", str(self.status), "--doc-root", str(self.doc)]
        command += ["--swift-packages", str(self.folder / "resolved.json"), "--version", "0.2.0", "--commit", COMMIT, "--created", CREATED]
        command += ["--executable", str(self.executable), "--out", str(self.folder / out), *more]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def document(self, *more: str, service: str = "signer") -> dict[str, Any]:
        self.resolved()
        done = self.run(*more, service=service)
        assert done.returncode == 0, done.stderr
        return json.loads((self.folder / "out.json").read_text())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def packages_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["SPDXID"]: one for one in document["packages"]}


def relations_of(document: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(one["spdxElementId"], one["relationshipType"], one["relatedSpdxElement"]) for one in document["relationships"]}


def purl_of(package: dict[str, Any]) -> str:
    (reference,) = package["externalRefs"]
    assert reference["referenceType"] == "purl" and reference["referenceCategory"] == "PACKAGE-MANAGER"
    return reference["referenceLocator"]


def assert_valid_spdx(path: Path) -> None:
    """Judged by SPDX' own tools, licence ids included."""
    from spdx_tools.spdx.parser.parse_anything import parse_file
    from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

    assert [one.validation_message for one in validate_full_spdx_document(parse_file(str(path)), "SPDX-2.3")] == []


# The document


def test_is_valid_spdx(bench: Bench) -> None:
    bench.document()
    assert_valid_spdx(bench.folder / "out.json")


def test_the_validator_finds_a_licence_that_is_none(bench: Bench) -> None:
    document = bench.document()
    document["packages"][1]["licenseDeclared"] = "No-Such-Licence"
    (bench.folder / "wrong.json").write_text(json.dumps(document))
    with pytest.raises(AssertionError):
        assert_valid_spdx(bench.folder / "wrong.json")


def test_describes_the_service(bench: Bench) -> None:
    document = bench.document()
    own = packages_of(document)["SPDXRef-Service-signer"]
    assert (own["name"], own["versionInfo"], own["licenseDeclared"]) == ("signer", "0.2.0", "Apache-2.0")
    assert own["checksums"] == [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(b"an executable").hexdigest()}]
    assert purl_of(own) == "pkg:generic/apple-attribution/signer@0.2.0"
    assert COMMIT in own["sourceInfo"]
    assert document["creationInfo"]["created"] == CREATED
    relations = relations_of(document)
    assert ("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Image") in relations
    assert ("SPDXRef-Image", "CONTAINS", "SPDXRef-Service-signer") in relations


def test_names_installed_debian_packages(bench: Bench) -> None:
    document = bench.document()
    found = {one["name"]: one for one in document["packages"] if one["SPDXID"].startswith("SPDXRef-Debian-")}
    assert set(found) == {"base-files", "mawk", "odd++", *LIBRARIES}
    assert purl_of(found["odd++"]) == "pkg:deb/debian/odd%2B%2B@2:1.0~rc1%2Bb1?arch=all&distro=debian-12"
    assert found["odd++"]["sourceInfo"] == "Debian source package odd 2:1.0~rc1; architecture all"
    assert found["mawk"]["supplier"] == "Organization: Debian"
    relations = relations_of(document)
    assert {other for one, kind, other in relations if (one, kind) == ("SPDXRef-Image", "CONTAINS")} == {
        one["SPDXID"] for one in found.values()
    } | {"SPDXRef-Service-signer"}
    assert (found["base-files"]["SPDXID"], "DEPENDS_ON", found["mawk"]["SPDXID"]) in relations  # it provides awk
    assert (found["mawk"]["SPDXID"], "DEPENDS_ON", found["libc6"]["SPDXID"]) in relations
    assert (found["odd++"]["SPDXID"], "DEPENDS_ON", found["libc6"]["SPDXID"]) in relations  # the second alternative
    needed = {other for one, kind, other in relations if (one, kind) == ("SPDXRef-Service-signer", "DEPENDS_ON")}
    assert needed == {found[name]["SPDXID"] for name in LIBRARIES}


def test_licences_of_debian_packages(bench: Bench) -> None:
    found = {one["name"]: one for one in bench.document()["packages"]}
    assert found["mawk"]["licenseDeclared"] == "(BSD-3-Clause OR MIT) AND GPL-2.0-only"
    assert found["odd++"]["licenseDeclared"] == "NOASSERTION" and "own-words" in found["odd++"]["licenseComments"]
    assert found["libc6"]["licenseDeclared"] == "NOASSERTION" and "not machine-readable" in found["libc6"]["licenseComments"]
    assert found["libssl3"]["licenseDeclared"] == "NOASSERTION" and "no copyright file" in found["libssl3"]["licenseComments"]


def test_a_package_that_one_service_has_alone_is_listed_for_that_one(bench: Bench) -> None:
    assert "SPDXRef-Swift-swift-mustache" in packages_of(bench.document("--swift-version", "6.3.1", service="verifier"))
    assert "SPDXRef-Swift-swift-mustache" not in packages_of(bench.document("--swift-version", "6.3.1", service="signer"))


def test_lists_the_swift_packages_that_are_linked(bench: Bench) -> None:
    document = bench.document("--swift-version", "6.3.1")
    packages, relations = packages_of(document), relations_of(document)
    linked = {packages[other]["name"] for one, kind, other in relations if (one, kind) == ("SPDXRef-Service-signer", "STATIC_LINK")}
    assert linked == {one["name"] for one in PINNED["swiftPackages"] if "services" in one["linked"]} | {"swift-runtime"}
    nio = packages["SPDXRef-Swift-swift-nio"]
    pinned = next(one for one in PINNED["swiftPackages"] if one["identity"] == "swift-nio")
    assert purl_of(nio) == f"pkg:swift/github.com/apple/swift-nio@{pinned['version']}"
    assert nio["downloadLocation"] == f"git+https://github.com/apple/swift-nio.git@{pinned['revision']}"
    assert (nio["licenseDeclared"], nio["licenseConcluded"]) == ("Apache-2.0", "Apache-2.0 AND MIT")
    assert any("Permission is hereby granted" in text for text in nio["attributionTexts"])
    assert packages["SPDXRef-Swift-runtime"]["versionInfo"] == "6.3.1"
    assert packages["SPDXRef-Swift-runtime"]["licenseDeclared"] == "Apache-2.0 WITH Swift-exception"


def test_what_is_in_other_images(bench: Bench) -> None:
    simulator = packages_of(bench.document(service="simulator"))
    assert "SPDXRef-Swift-swift-metrics" in simulator and "SPDXRef-Swift-yams" not in simulator
    assert not [one for one in packages_of(bench.document(service="setup")) if "Swift" in one]
    assert "--linked" in bench.run(service="another").stderr
    assert bench.run("--linked", "services", service="another").returncode == 0


def test_same_input_same_bytes(bench: Bench) -> None:
    bench.resolved()
    assert bench.run(out="one.json").returncode == 0
    bench.packages.reverse()
    bench.resolved()
    assert bench.run(out="two.json").returncode == 0
    one, two = ((bench.folder / name).read_bytes() for name in ("one.json", "two.json"))
    assert one == two


def test_order_of_the_status_file_does_not_matter(bench: Bench) -> None:
    first = bench.document()
    bench.status.write_text("\n\n".join(reversed([block.strip() for block in STATUS.split("\n\n")])) + "\n")
    assert bench.document() == first


def test_the_namespace_follows_the_content(bench: Bench) -> None:
    first = bench.document()["documentNamespace"]
    assert re.fullmatch(r"https://spdx\.org/spdxdocs/apple-attribution-signer-0\.2\.0-[0-9a-f-]{36}", first)
    bench.executable.write_bytes(b"another one")
    assert bench.document()["documentNamespace"] != first


def test_times(bench: Bench) -> None:
    for given in ("2026-11-24T03:00:00+01:00", "1795485600"):
        assert bench.document("--created", given)["creationInfo"]["created"] == CREATED
    assert bench.document("--created", "")["creationInfo"]["created"] == "1970-01-01T00:00:00Z"
    for wrong in ("yesterday", "2026-11-24T02:00:00"):
        done = bench.run("--created", wrong)
        assert done.returncode == 1 and "--created" in done.stderr


# Refusals


def test_refuses_a_version_that_drifted(bench: Bench) -> None:
    one = next(one for one in bench.packages if one["identity"] == "swift-atomics")
    one["version"] = "99.0.0"
    bench.resolved()
    done = bench.run()
    assert done.returncode == 1 and "swift-atomics" in done.stderr and "99.0.0" in done.stderr
    assert not (bench.folder / "out.json").exists()


def test_refuses_another_commit_under_the_same_version(bench: Bench) -> None:
    bench.packages[0]["revision"] = "f" * 40
    bench.resolved()
    done = bench.run()
    assert done.returncode == 1 and bench.packages[0]["identity"] in done.stderr and "f" * 40 in done.stderr


def test_refuses_another_place(bench: Bench) -> None:
    bench.packages[0]["url"] = "https://example.com/elsewhere.git"
    bench.resolved()
    assert "https://example.com/elsewhere.git" in bench.run().stderr


def test_names_every_difference(bench: Bench) -> None:
    absent = bench.packages.pop(0)["identity"]
    bench.packages.append(
        {"identity": "newcomer", "name": "Newcomer", "version": "1.2.3", "revision": "0" * 40, "url": "https://example.com/n"}
    )
    bench.resolved()
    done = bench.run("--check-only")
    assert done.returncode == 1
    assert re.search(rf"{absent} .* was not resolved", done.stderr)
    assert "newcomer 1.2.3 was resolved and is not in packages.json" in done.stderr


def test_refuses_a_branch(bench: Bench) -> None:
    content = workspace(bench.packages)
    content["object"]["dependencies"][0]["state"] = {"name": "sourceControlCheckout", "checkoutState": {"branch": "main", "revision": "0"}}
    bench.resolved(content)
    assert "resolved to no version (main)" in bench.run("--check-only").stderr


def test_refuses_a_runtime_without_a_library(bench: Bench) -> None:
    bench.resolved()
    bench.status.write_text(STATUS.replace("Package: libhiredis0.14", "Package: libsomething"))
    done = bench.run()
    assert done.returncode == 1 and "libhiredis0.14 is not installed" in done.stderr


@pytest.mark.parametrize("text", ["", "no status file", "Package: a\nStatus: install ok installed\nArchitecture: all\n"])
def test_refuses_a_status_file_that_is_none(bench: Bench, text: str) -> None:
    bench.resolved()
    bench.status.write_text(text)
    done = bench.run()
    assert done.returncode == 1 and done.stderr.startswith("error: ") and "Traceback" not in done.stderr


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"object": {}}', '{"object": {"dependencies": [{}]}}'])
def test_refuses_what_swiftpm_does_not_write(bench: Bench, text: str) -> None:
    (bench.folder / "resolved.json").write_text(text)
    done = bench.run("--check-only")
    assert done.returncode == 1 and done.stderr.startswith("error: ") and "Traceback" not in done.stderr


def own_generator(bench: Bench, change: Any) -> Path:
    """A copy of the generator beside a changed packages.json."""
    folder = bench.folder / "generator"
    folder.mkdir()
    for name in ("generate", "licences.py", "swift_packages.py", "debian_packages.py"):
        (folder / name).write_bytes((SBOM / name).read_bytes())
    content = copy.deepcopy(PINNED)
    change(content)
    (folder / "packages.json").write_text(json.dumps(content))
    return folder / "generate"


@pytest.mark.parametrize(
    "change, says",
    [
        (lambda content: content["swiftPackages"][3].pop("license"), "has no license"),
        (lambda content: content["swiftPackages"][3].update(license=""), "has no license"),
        (lambda content: content["swiftPackages"][3].update(license="Apache 2"), "unknown licence Apache 2"),
        (lambda content: content["swiftPackages"][3].update(license="NOASSERTION"), "unknown licence NOASSERTION"),
        (lambda content: content["swiftPackages"][3].pop("revision"), "has no revision"),
        (lambda content: content["swiftPackages"][3].update(linked=["service"]), "linked into service"),
        (lambda content: content["swiftPackages"].append(content["swiftPackages"][3]), "stands there twice"),
        (lambda content: content["swiftRuntime"].pop("license"), "swiftRuntime"),
        (lambda content: content["swiftPackages"].clear(), "no Swift packages"),
    ],
)
def test_refuses_a_list_with_a_fault(bench: Bench, change: Any, says: str) -> None:
    bench.resolved()
    done = bench.run(script=own_generator(bench, change))
    assert done.returncode == 1 and says in done.stderr and "Traceback" not in done.stderr


# Forms of what was resolved


def test_show_dependencies_is_read(bench: Bench) -> None:
    nodes = [
        {"identity": one["identity"], "name": one["name"], "url": one["url"] + ".git", "version": one["version"]} for one in bench.packages
    ]
    root = {
        "identity": "root",
        "name": "root",
        "url": "/",
        "version": "unspecified",
        "dependencies": [dict(nodes[0], dependencies=nodes[1:])],
    }
    bench.resolved(root)
    assert bench.run("--check-only").returncode == 0
    nodes[5]["version"] = "99.0.0"
    bench.resolved(root)
    assert nodes[5]["identity"] in bench.run("--check-only").stderr


def test_writes_a_package_resolved_that_it_accepts(bench: Bench) -> None:
    done = subprocess.run([sys.executable, str(SBOM / "generate"), "--write-resolved", str(bench.folder / "resolved.json")], timeout=60, check=False)
    assert done.returncode == 0
    content = json.loads((bench.folder / "resolved.json").read_text())
    assert content["version"] == 3 and len(content["pins"]) == len(PINNED["swiftPackages"])
    assert bench.run("--check-only").returncode == 0


# The list itself


def directly_needed() -> dict[str, tuple[str, str]]:
    """Location and version of what Package.swift names, written as `exact:` or `from:`, by identity."""
    text = (ROOT / "Package.swift").read_text()
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
def test_list_is_what_this_build_resolved() -> None:
    swift_packages.compare(swift_packages.read_pinned(), swift_packages.read_resolved(ROOT / ".build" / "workspace-state.json"))


@pytest.mark.skipif(not CHECKOUTS.is_dir(), reason="no checkouts")
@pytest.mark.parametrize("entry", PINNED["swiftPackages"], ids=lambda entry: entry["identity"])
def test_licence_is_that_of_the_checkout(entry: dict[str, Any]) -> None:
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
def test_linked_is_what_the_build_links(executable: str, group: str) -> None:
    """Each module of the link command belongs to a package whose entry says so, and no entry says it without."""
    manifest = (ROOT / ".build" / "release.yaml").read_text()
    command = re.search(rf'\n  "C\.{executable}-[^"]*-release\.exe":\n(.*?)(?=\n  "|\Z)', manifest, re.DOTALL)
    assert command is not None
    modules = set(re.findall(r"/release/([A-Za-z0-9_]+)\.build/", command.group(1)))
    # Where a module's folder has another name, or two packages have one of that name.
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
def test_debian_names(debian: str, spdx: str) -> None:
    found = licences.spdx_expression(debian)
    assert sorted(re.split(r" (AND|OR) ", found)) == sorted(re.split(r" (AND|OR) ", spdx))
    from license_expression import get_spdx_licensing

    licensing = get_spdx_licensing()
    assert licensing.validate(found).errors == []
    assert licensing.is_equivalent(found, spdx)


@pytest.mark.parametrize(
    "debian", ["GPL", "GPL-7", "Artistic", "public-domain", "GPL-2+ with odd exception", "GPL-2 and custom", "", "LGPL-1+"]
)
def test_names_without_an_id(debian: str) -> None:
    with pytest.raises(licences.UnknownLicence):
        licences.spdx_expression(debian)


def test_every_licence_id_is_one() -> None:
    from license_expression import get_spdx_licensing

    licensing = get_spdx_licensing()
    for one in set(licences._DEBIAN_NAMES.values()) | licences._OTHER_IDS:
        assert licensing.validate(one).errors == [], one
    for one in licences._EXCEPTIONS.values():
        assert licensing.validate(f"GPL-2.0-only WITH {one}").errors == [], one


def test_a_directory_of_status_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("Package: a\nVersion: 1\nArchitecture: all\n")
    (tmp_path / "b").write_text("Package: b\nVersion: 2\nArchitecture: all\n")
    (tmp_path / "b.md5sums").write_text("0123  usr/bin/b\n")
    assert [one.name for one in debian_packages.installed_packages(tmp_path)] == ["a", "b"]


@pytest.mark.skipif(not Path("/var/lib/dpkg/status").is_file(), reason="no Debian system")
def test_this_system(tmp_path: Path) -> None:
    """Hundreds of real packages, with whatever their copyright files say."""
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
