"""Deploy/sbom/check-images: sizes, labels and layers of images."""

import hashlib
import importlib.machinery
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .repository import CREATED, IMAGES, ROOT, SERVICES, VERSION_FILE

# Sizes


def check_images() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("check_images", str(ROOT / "Deploy" / "sbom" / "check-images"))
    specification = importlib.util.spec_from_loader("check_images", loader)
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["check_images"] = module
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = written
    return module


IMAGES_CHECK = check_images()
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def collect(folder: Path, name: str, labels: dict[str, str] | None = None, config: dict[str, Any] | None = None, **other: Any) -> None:
    """The data that Deploy/release collects about one image."""
    own = folder / name
    own.mkdir()
    named = {"title": name, "version": "0.2.0", "revision": COMMIT, "created": CREATED, "licenses": "Apache-2.0"} | (labels or {})
    settings = {"User": "" if name == "setup" else "10001", "Entrypoint": [f"/usr/local/bin/{name}"]} | (config or {})
    settings["Labels"] = {"org.opencontainers.image." + key: value for key, value in named.items()}
    (own / "inspect.json").write_text(json.dumps([{"Id": name, "Config": settings, "RootFS": {"Layers": ["base", name]}}]))
    (own / "history.json").write_text(
        json.dumps([{"size": other.get("layer", 1_000_000), "CreatedBy": "COPY"}, {"size": 80_000_000, "CreatedBy": "ADD"}])
    )
    if name not in SERVICES:
        return
    content = bytes(other.get("executable", 10))
    (own / "executable").write_bytes(content)
    (own / "version.txt").write_text(other.get("printed", f"{name} 0.2.0 (commit {COMMIT[:12]}, release build)\n"))
    package = {"SPDXID": f"SPDXRef-Service-{name}", "versionInfo": "0.2.0", "sourceInfo": f"Built from commit {COMMIT}."}
    package["checksums"] = [{"algorithm": "SHA256", "checksumValue": other.get("sha256", hashlib.sha256(content).hexdigest())}]
    (own / "sbom.spdx.json").write_text(json.dumps({"spdxVersion": "SPDX-2.3", "packages": [package]}))


def check(folder: Path, **changed: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    for name in IMAGES:
        collect(folder, name, **changed.get(name, {}))
    return IMAGES_CHECK.check_images(folder, "0.2.0", COMMIT, CREATED)


@pytest.mark.parametrize(
    "change, says",
    [
        ({"config": {"User": "0"}}, "signer: it runs as 0"),
        ({"labels": {"version": "0.1.0"}}, "signer: label org.opencontainers.image.version is '0.1.0'"),
        ({"labels": {"created": ""}}, "signer: label org.opencontainers.image.created"),
        ({"labels": {"licenses": "MIT"}}, "signer: label org.opencontainers.image.licenses"),
        ({"labels": {"title": "verifier"}}, "signer: label org.opencontainers.image.title"),
        ({"config": {"Entrypoint": ["/bin/sh", "-c", "signer"]}}, "signer: its entry point is"),
        ({"sha256": "0" * 64}, "signer: its SBOM has SHA-256"),
        ({"printed": "signer 0.2.0 (commit unknown, release build)"}, "signer: --version prints"),
        ({"printed": "signer 0.2.0 (commit 0123456789ab_modified, release build)"}, "signer: --version prints"),
        ({"printed": f"signer 0.2.0 (commit {COMMIT[:12]}, debug build)"}, "signer: --version prints"),
        ({"printed": f"signer 0.1.0 (commit {COMMIT[:12]}, release build)"}, "signer: --version prints"),
        ({"printed": "signer 0.2.0 (commit ba9876543210, release build)"}, "signer: --version prints"),
        ({"printed": ""}, "signer: --version prints"),
        ({"executable": 48_000_001}, "signer: its executable has 48000001 bytes"),
        ({"layer": 316_000_001}, "together, more than 400000000"),
    ],
)
def test_a_fault_of_an_image_is_reported_with_the_images_name(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    faults, _ = check(tmp_path, signer=change)
    assert len(faults) == 1 and says in faults[0]


def test_sizes_exactly_at_the_limits_are_accepted(tmp_path: Path) -> None:
    faults, report = check(tmp_path, signer={"executable": 48_000_000, "layer": 316_000_000}, setup={"layer": 90_000_000})
    assert faults == []
    assert (report["servicesTogether"], report["allTogether"]) == (400_000_000, 492_000_000)


def test_an_image_that_was_not_collected_is_a_fault(tmp_path: Path) -> None:
    for name in IMAGES[1:]:
        collect(tmp_path, name)
    faults, _ = IMAGES_CHECK.check_images(tmp_path, "0.2.0", COMMIT, CREATED)
    assert len(faults) == 1 and faults[0].startswith("signer: cannot tell what it is made of")


def history(*steps: tuple[int, str]) -> list[Any]:
    """The steps, from the oldest to the newest."""
    return IMAGES_CHECK.read_history(json.dumps([{"size": size, "CreatedBy": made} for size, made in reversed(steps)]))


def test_a_layer_of_several_images_counts_once_and_is_refused_with_two_sizes() -> None:
    images = {
        "a": [("sha256:base", 100), ("sha256:runtime", 20), ("sha256:a", 3)],
        "b": [("sha256:base", 100), ("sha256:runtime", 20), ("sha256:b", 4)],
        "c": [("sha256:other", 7), ("sha256:a", 3)],
    }
    assert IMAGES_CHECK.total_size(images) == 134
    images["c"][1] = ("sha256:a", 5)
    with pytest.raises(IMAGES_CHECK.Unclear):
        IMAGES_CHECK.total_size(images)


def test_layers_have_the_sizes_of_podmans_history() -> None:
    text = json.dumps([{"id": "b", "size": 5, "CreatedBy": "COPY"}, {"id": "a", "size": 70, "CreatedBy": "ADD"}])
    sizes = IMAGES_CHECK.layer_sizes({"RootFS": {"Layers": ["x", "y"]}, "Size": 75}, IMAGES_CHECK.read_history(text))
    assert sizes == [("x", 70), ("y", 5)]


def test_layers_have_the_sizes_of_dockers_history() -> None:
    text = '{"Size":"0","CreatedBy":"USER 10001"}\n{"Size":"5","CreatedBy":"COPY a b # buildkit"}\n{"Size":"70","CreatedBy":"ADD"}\n'
    sizes = IMAGES_CHECK.layer_sizes({"RootFS": {"Layers": ["x", "y"]}}, IMAGES_CHECK.read_history(text))
    assert sizes == [("x", 70), ("y", 5)]


def test_rounded_sizes_are_refused() -> None:
    with pytest.raises(IMAGES_CHECK.Unclear):
        IMAGES_CHECK.read_history('{"Size":"74.8MB","CreatedBy":"ADD"}')


def test_markers_distinguish_an_empty_layer_from_a_step_without_a_layer() -> None:
    steps = history((70, "ADD"), (0, "RUN true"), (0, "LABEL a=b"), (5, "COPY"))
    marks = [{}, {}, {"empty_layer": True}, {}]
    inspected = {"RootFS": {"Layers": ["x", "nothing", "y"]}, "History": marks}
    assert IMAGES_CHECK.layer_sizes(inspected, steps) == [("x", 70), ("nothing", 0), ("y", 5)]
    del inspected["History"]
    assert IMAGES_CHECK.layer_sizes(inspected, steps) == [("x", 70), ("nothing", 0), ("y", 5)]


def test_a_history_with_fewer_steps_than_layers_is_refused() -> None:
    with pytest.raises(IMAGES_CHECK.Unclear, match="3 layers, but 2 steps"):
        IMAGES_CHECK.layer_sizes({"RootFS": {"Layers": ["x", "y", "z"]}}, history((70, "ADD"), (5, "COPY")))


def test_an_incomplete_history_is_refused() -> None:
    with pytest.raises(IMAGES_CHECK.Unclear, match="the engine says 90000000"):
        IMAGES_CHECK.layer_sizes({"RootFS": {"Layers": ["x", "y"]}, "Size": 90_000_000}, history((1, "ADD"), (5_000_000, "COPY")))
    compressed = {"RootFS": {"Layers": ["x"]}, "Size": 30_000_000}
    assert IMAGES_CHECK.layer_sizes(compressed, history((90_000_000, "ADD"))) == [("x", 90_000_000)]


# Output of other programs


def test_an_sbom_is_accepted_only_for_its_service_version_commit_and_executable(tmp_path: Path) -> None:
    libraries = json.loads((ROOT / "Deploy" / "sbom" / "packages.json").read_text())["debianLibraries"]["services"]
    (tmp_path / "status").write_text("\n".join(f"Package: {name}\nVersion: 1\nArchitecture: amd64\n" for name in libraries))
    (tmp_path / "executable").write_bytes(b"x")
    command = [sys.executable, str(ROOT / "Deploy/sbom/generate"), "--service", "signer", "--dpkg-status", "status", "--doc-root", "."]
    command += ["--swift-packages", str(ROOT / "Deploy/sbom/packages.json"), "--version", "0.2.0", "--commit", COMMIT]
    subprocess.run([*command, "--executable", "executable", "--out", "out"], cwd=tmp_path, check=True, timeout=60)
    sha256 = hashlib.sha256(b"x").hexdigest()
    assert IMAGES_CHECK.sbom_faults("signer", tmp_path / "out", "0.2.0", COMMIT, sha256) == []
    assert IMAGES_CHECK.sbom_faults("verifier", tmp_path / "out", "0.2.0", COMMIT, sha256) != []
    assert IMAGES_CHECK.sbom_faults("signer", tmp_path / "out", "0.3.0", COMMIT, sha256) != []
    assert IMAGES_CHECK.sbom_faults("signer", tmp_path / "out", "0.2.0", "f" * 40, sha256) != []
    assert IMAGES_CHECK.sbom_faults("signer", tmp_path / "out", "0.2.0", COMMIT, "f" * 64) != []


def test_the_dockerfile_builds_every_released_image() -> None:
    text = (ROOT / "Deploy" / "Dockerfile").read_text()
    assert set(IMAGES) <= set(re.findall(r"(?m)^FROM \S+ AS (\S+)$", text))
    assert {"VERSION", "COMMIT", "CREATED", "EXECUTABLES"} <= set(re.findall(r"(?m)^ARG (\w+)", text))
    for name in SERVICES:
        assert f"/sbom/{name}.spdx.json /usr/share/sbom/" in text
    assert set(IMAGES_CHECK.SERVICES) | set(IMAGES_CHECK.OTHERS) == set(IMAGES)


def test_the_changelog_has_the_version_of_the_source() -> None:
    version = re.search(r'public static let version = "([^"]+)"', (ROOT / VERSION_FILE).read_text())
    assert version is not None
    headings = re.findall(r"(?m)^## \[([^\]]+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text())
    assert headings[0][0] == version.group(1)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d|Unreleased", date) for _, date in headings)
    assert "Unreleased" not in [date for _, date in headings[1:]], "only the newest version may be unreleased"
