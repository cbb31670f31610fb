"""What Deploy/sbom/generate refuses, and the formats of resolved packages that it reads."""

import copy
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .sbom_bench import PINNED, STATUS, Bench, workspace

ROOT = Path(__file__).resolve().parents[3]
SBOM = ROOT / "Deploy" / "sbom"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# Refusals


def test_a_version_that_is_not_the_pinned_one_is_refused(bench: Bench) -> None:
    one = next(one for one in bench.packages if one["identity"] == "swift-atomics")
    one["version"] = "99.0.0"
    bench.resolved()
    done = bench.run()
    assert done.returncode == 1 and "swift-atomics" in done.stderr and "99.0.0" in done.stderr
    assert not (bench.folder / "out.json").exists()


def test_another_commit_under_the_same_version_is_refused(bench: Bench) -> None:
    bench.packages[0]["revision"] = "f" * 40
    bench.resolved()
    done = bench.run()
    assert done.returncode == 1 and bench.packages[0]["identity"] in done.stderr and "f" * 40 in done.stderr


def test_another_url_is_refused(bench: Bench) -> None:
    bench.packages[0]["url"] = "https://example.com/elsewhere.git"
    bench.resolved()
    assert "https://example.com/elsewhere.git" in bench.run().stderr


def test_every_difference_is_named(bench: Bench) -> None:
    absent = bench.packages.pop(0)["identity"]
    bench.packages.append(
        {"identity": "newcomer", "name": "Newcomer", "version": "1.2.3", "revision": "0" * 40, "url": "https://example.com/n"}
    )
    bench.resolved()
    done = bench.run("--check-only")
    assert done.returncode == 1
    assert re.search(rf"{absent} .* was not resolved", done.stderr)
    assert "newcomer 1.2.3 was resolved and is not in packages.json" in done.stderr


def test_a_branch_is_refused(bench: Bench) -> None:
    content = workspace(bench.packages)
    content["object"]["dependencies"][0]["state"] = {"name": "sourceControlCheckout", "checkoutState": {"branch": "main", "revision": "0"}}
    bench.resolved(content)
    assert "resolved to no version (main)" in bench.run("--check-only").stderr


def test_an_image_without_a_library_that_is_linked_is_refused(bench: Bench) -> None:
    bench.resolved()
    bench.status.write_text(STATUS.replace("Package: libhiredis0.14", "Package: libsomething"))
    done = bench.run()
    assert done.returncode == 1 and "libhiredis0.14 is not installed" in done.stderr


@pytest.mark.parametrize("text", ["", "no status file", "Package: a\nStatus: install ok installed\nArchitecture: all\n"])
def test_a_status_file_that_cannot_be_read_is_refused(bench: Bench, text: str) -> None:
    bench.resolved()
    bench.status.write_text(text)
    done = bench.run()
    assert done.returncode == 1 and done.stderr.startswith("error: ") and "Traceback" not in done.stderr


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"object": {}}', '{"object": {"dependencies": [{}]}}'])
def test_resolved_packages_in_another_form_are_refused(bench: Bench, text: str) -> None:
    (bench.folder / "resolved.json").write_text(text)
    done = bench.run("--check-only")
    assert done.returncode == 1 and done.stderr.startswith("error: ") and "Traceback" not in done.stderr


def own_generator(bench: Bench, change: Any) -> Path:
    """A copy of the generator with a changed packages.json."""
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
def test_a_package_list_with_a_fault_is_refused(bench: Bench, change: Any, says: str) -> None:
    bench.resolved()
    done = bench.run(script=own_generator(bench, change))
    assert done.returncode == 1 and says in done.stderr and "Traceback" not in done.stderr


# Forms of resolved packages


def test_the_output_of_show_dependencies_is_read(bench: Bench) -> None:
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


def test_a_package_resolved_that_was_written_is_accepted(bench: Bench) -> None:
    done = subprocess.run([sys.executable, str(SBOM / "generate"), "--write-resolved", str(bench.folder / "resolved.json")], timeout=60, check=False)
    assert done.returncode == 0
    content = json.loads((bench.folder / "resolved.json").read_text())
    assert content["version"] == 3 and len(content["pins"]) == len(PINNED["swiftPackages"])
    assert bench.run("--check-only").returncode == 0
