"""Deploy/sbom: the pinned Swift packages, and the software bills of materials of images."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from .sbom_bench import COMMIT, CREATED, LIBRARIES, PINNED, STATUS, Bench, assert_valid_spdx

ROOT = Path(__file__).resolve().parents[3]
SBOM = ROOT / "Deploy" / "sbom"


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


# The document


def test_the_document_is_valid_spdx(bench: Bench) -> None:
    bench.document()
    assert_valid_spdx(bench.folder / "out.json")


def test_the_validator_finds_an_invalid_licence(bench: Bench) -> None:
    document = bench.document()
    document["packages"][1]["licenseDeclared"] = "No-Such-Licence"
    (bench.folder / "wrong.json").write_text(json.dumps(document))
    with pytest.raises(AssertionError):
        assert_valid_spdx(bench.folder / "wrong.json")


def test_the_document_describes_the_service(bench: Bench) -> None:
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


def test_the_document_names_the_installed_debian_packages(bench: Bench) -> None:
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


def test_debian_packages_have_the_licences_of_their_copyright_files(bench: Bench) -> None:
    found = {one["name"]: one for one in bench.document()["packages"]}
    assert found["mawk"]["licenseDeclared"] == "(BSD-3-Clause OR MIT) AND GPL-2.0-only"
    assert found["odd++"]["licenseDeclared"] == "NOASSERTION" and "own-words" in found["odd++"]["licenseComments"]
    assert found["libc6"]["licenseDeclared"] == "NOASSERTION" and "not machine-readable" in found["libc6"]["licenseComments"]
    assert found["libssl3"]["licenseDeclared"] == "NOASSERTION" and "no copyright file" in found["libssl3"]["licenseComments"]


def test_a_package_of_one_service_is_listed_only_for_that_service(bench: Bench) -> None:
    assert "SPDXRef-Swift-swift-mustache" in packages_of(bench.document("--swift-version", "6.3.1", service="verifier"))
    assert "SPDXRef-Swift-swift-mustache" not in packages_of(bench.document("--swift-version", "6.3.1", service="signer"))


def test_the_swift_packages_that_are_linked_are_listed(bench: Bench) -> None:
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


def test_other_images_list_what_is_linked_into_them(bench: Bench) -> None:
    simulator = packages_of(bench.document(service="simulator"))
    assert "SPDXRef-Swift-swift-metrics" in simulator and "SPDXRef-Swift-yams" not in simulator
    assert not [one for one in packages_of(bench.document(service="setup")) if "Swift" in one]
    assert "--linked" in bench.run(service="another").stderr
    assert bench.run("--linked", "services", service="another").returncode == 0


def test_the_same_input_gives_the_same_bytes(bench: Bench) -> None:
    bench.resolved()
    assert bench.run(out="one.json").returncode == 0
    bench.packages.reverse()
    bench.resolved()
    assert bench.run(out="two.json").returncode == 0
    one, two = ((bench.folder / name).read_bytes() for name in ("one.json", "two.json"))
    assert one == two


def test_the_order_of_the_status_file_does_not_matter(bench: Bench) -> None:
    first = bench.document()
    bench.status.write_text("\n\n".join(reversed([block.strip() for block in STATUS.split("\n\n")])) + "\n")
    assert bench.document() == first


def test_the_namespace_follows_the_content(bench: Bench) -> None:
    first = bench.document()["documentNamespace"]
    assert re.fullmatch(r"https://spdx\.org/spdxdocs/apple-attribution-signer-0\.2\.0-[0-9a-f-]{36}", first)
    bench.executable.write_bytes(b"another one")
    assert bench.document()["documentNamespace"] != first


def test_times_are_read_in_iso_8601_and_in_seconds_since_1970(bench: Bench) -> None:
    for given in ("2026-11-24T03:00:00+01:00", "1795485600"):
        assert bench.document("--created", given)["creationInfo"]["created"] == CREATED
    assert bench.document("--created", "")["creationInfo"]["created"] == "1970-01-01T00:00:00Z"
    for wrong in ("yesterday", "2026-11-24T02:00:00"):
        done = bench.run("--created", wrong)
        assert done.returncode == 1 and "--created" in done.stderr
