"""Deploy/release: what it refuses, what it checks, and what it creates. A script replaces the engine; no image is built."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest

from .repository import CHANGELOG, IMAGES, SERVICES, VERSION_FILE, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


# Successful releases


@pytest.mark.parametrize("engine", ["docker", "podman"])
def test_a_release_is_tested_built_checked_and_tagged(repository: Repository, engine: str) -> None:
    repository.write(".data/key.pem", "a secret that git does not know")
    done = repository.release("--engine", engine, "--", "--network", "host")
    assert done.returncode == 0, done.stdout + done.stderr
    commit = repository.git("rev-parse", "HEAD")

    assert (repository.state / "tested").read_text() == "tested\n"
    builds = [call for call in repository.calls() if call[1] == "build"]
    assert [call[call.index("--target") + 1] for call in builds] == IMAGES
    assert all({"VERSION=0.2.0", f"COMMIT={commit}", "EXECUTABLES=built", "host"} <= set(call) for call in builds)
    assert all(("docker" in call[1:]) == (engine == "podman") for call in builds), "--format docker is podman's alone"
    built = json.loads((repository.state / hashlib.sha256(b"signer").hexdigest()).read_text())
    assert "CHANGELOG.md" in built["files"] and not any(".data" in name or name.startswith(".git/") for name in built["files"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", built["arguments"]["CREATED"])

    folder = repository.path / "release" / "0.2.0"
    assert {one.name for one in folder.iterdir()} == {"images.json", "SHA256SUMS", *(f"{name}.spdx.json" for name in SERVICES)}
    assert subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=False).returncode == 0
    assert len((folder / "SHA256SUMS").read_text().splitlines()) == 6
    report = json.loads((folder / "images.json").read_text())
    assert (report["version"], report["commit"]) == ("0.2.0", commit)
    assert [one["name"] for one in report["images"]] == [f"apple-attribution/{name}" for name in IMAGES]
    assert all(re.fullmatch("[0-9a-f]{64}", one["id"]) and one["digest"].startswith("sha256:") for one in report["images"])
    assert report["servicesTogether"] == 80_000_000 + 5 * 1_000_000
    assert report["allTogether"] == 80_000_000 + 8 * 1_000_000

    assert repository.image_tags() == [f"apple-attribution/{name}:0.2.0 {name}" for name in IMAGES]
    assert repository.git("cat-file", "-t", "v0.2.0") == "tag"
    assert repository.git("rev-parse", "v0.2.0^{commit}") == commit
    assert hashlib.sha256((folder / "SHA256SUMS").read_bytes()).hexdigest() in repository.git("tag", "-l", "--format=%(contents)", "v0.2.0")
    order = [call[1] for call in repository.calls()]
    assert order.index("tag") > max(index for index, word in enumerate(order) if word in ("build", "run", "cp"))
    assert not any(word in order for word in ("push", "login"))
    assert repository.git("status", "--porcelain") == ""


def test_without_tests_nothing_is_tagged(repository: Repository) -> None:
    done = repository.release("--skip-tests")
    assert done.returncode == 0, done.stderr
    assert not (repository.state / "tested").exists()
    repository.assert_nothing_tagged()
    assert (repository.path / "release" / "0.2.0-untested" / "images.json").is_file()
    assert not (repository.path / "release" / "0.2.0").exists()


def test_the_engine_that_answers_is_used(repository: Repository) -> None:
    assert repository.release("--skip-tests", faults={"silent": ["docker"]}).returncode == 0
    assert {call[0] for call in repository.calls() if call[1] != "info"} == {"podman"}


def test_help_is_printed_without_calling_an_engine(repository: Repository) -> None:
    done = repository.release("--help")
    assert done.returncode == 0 and done.stdout.startswith("Usage: Deploy/release")
    assert repository.calls() == []


# Refusals before anything is built


@pytest.mark.parametrize("change", ["changed", "added", "unknown"])
def test_a_dirty_working_tree_is_refused(repository: Repository, change: str) -> None:
    repository.write("CHANGELOG.md" if change == "changed" else "new", CHANGELOG + "\n")
    if change == "added":
        repository.git("add", "new")
    repository.assert_refused("the tree is not clean")


@pytest.mark.parametrize(
    "text, says",
    [
        ("# Changelog\n\n## [0.1.0] - 2026-11-23\n\n- The first.\n", "has no section '## [0.2.0]"),
        (CHANGELOG.replace("0.2.0] - 2026-11-24", "Unreleased]"), "has no section '## [0.2.0]"),
        (CHANGELOG.replace("2026-11-24", "Unreleased"), "version 0.2.0 without a date"),
        (CHANGELOG.replace("2026-11-24", "tomorrow"), "version 0.2.0 without a date"),
        (CHANGELOG.replace("2026-11-24", "2026-13-24"), "version 0.2.0 without a date"),
        (CHANGELOG.replace("] - 2026-11-24", "]"), "version 0.2.0 without a date"),
        (CHANGELOG.replace("[0.2.0]", "[0.2.01]"), "has no section '## [0.2.0]"),
        (CHANGELOG.replace("## [0.2.0]", "### [0.2.0]"), "version 0.2.0 without a date"),
        (CHANGELOG.replace("- Something.\n", ""), "says nothing of version 0.2.0"),
    ],
)
def test_a_version_that_the_changelog_does_not_have_is_refused(repository: Repository, text: str, says: str) -> None:
    repository.write("CHANGELOG.md", text)
    repository.commit()
    repository.assert_refused(says)


@pytest.mark.parametrize(
    "line", ["", 'public static let version = "next"', 'public static let version = "0.2"', '// static let version = "0.2.0"']
)
def test_a_source_without_a_version_is_refused(repository: Repository, line: str) -> None:
    repository.write(VERSION_FILE, f"enum BuildInformation {{\n  {line}\n}}\n")
    repository.commit()
    repository.assert_refused("names no semantic version")


def test_a_tag_that_exists_is_refused(repository: Repository) -> None:
    repository.git("tag", "v0.2.0")
    done = repository.release()
    assert done.returncode != 0 and "the tag v0.2.0 exists already" in done.stderr
    assert repository.calls() == [] and repository.image_tags() == []


def test_a_branch_with_the_name_of_the_tag_does_not_count_as_the_tag(repository: Repository) -> None:
    repository.git("branch", "v0.2.0")
    assert repository.release("--skip-tests").returncode == 0


def test_a_release_folder_that_git_does_not_ignore_is_refused(repository: Repository) -> None:
    repository.write(".gitignore", ".data/\n")
    repository.commit()
    repository.assert_refused("release/ is not in .gitignore")


@pytest.mark.parametrize(
    "options, says",
    [
        (["--engine", "kubectl"], "unknown engine kubectl"),
        (["--engine"], "--engine needs a name"),
        (["--push"], "unknown option --push"),
    ],
)
def test_unknown_options_are_refused(repository: Repository, options: list[str], says: str) -> None:
    repository.assert_refused(says, *options)


def test_nothing_is_released_where_no_engine_answers(repository: Repository) -> None:
    repository.assert_refused("neither docker nor podman answers", faults={"silent": ["docker", "podman"]})
    repository.assert_refused("docker does not answer", "--engine", "docker", faults={"silent": ["docker"]})


# Later refusals


def test_failed_tests_end_the_release(repository: Repository) -> None:
    repository.write("Deploy/test", "#!/bin/sh\nexit 1\n", mode=0o755)
    repository.commit()
    repository.assert_refused("the tests failed")


def test_a_failed_build_ends_the_release(repository: Repository) -> None:
    done = repository.release(faults={"build": "ingest"})
    assert done.returncode != 0 and "the image ingest was not built" in done.stderr and "step 7 failed" in done.stderr
    repository.assert_nothing_tagged()


@pytest.mark.parametrize("script", ["echo changed >CHANGELOG.md", "git commit --quiet --allow-empty --message other"])
def test_a_working_tree_that_changes_during_the_release_is_not_tagged(repository: Repository, script: str) -> None:
    repository.write("Deploy/test", f"#!/bin/sh\n{script}\n", mode=0o755)
    repository.commit()
    done = repository.release()
    assert done.returncode != 0
    repository.assert_nothing_tagged()


def test_images_that_fail_the_checks_are_not_tagged(repository: Repository) -> None:
    faults = {
        "signer": {"user": "", "executable": 48_000_000},
        "verifier": {"absent": ["/usr/share/sbom/verifier.spdx.json"]},
        "ingest": {"absent": ["/usr/local/bin/ingest"]},
        "simulator": {"user": "root"},
        "setup": {"labels": {"revision": ""}},
    }
    done = repository.release(faults=faults)
    assert done.returncode != 0 and "nothing is tagged" in done.stderr
    for says in (
        "signer: it runs as root",
        "signer: its executable has 48000017 bytes",
        "verifier: no SBOM inside",
        "ingest: no executable inside",
        "simulator: it runs as root",
        "setup: label org.opencontainers.image.revision",
    ):
        assert f"error: {says}" in done.stderr
    repository.assert_nothing_tagged()
    assert not (repository.path / "release").exists()
