"""Lua scripts are files with a description, not text in Swift code; each is embedded and loaded."""

import re
from collections import Counter
from pathlib import Path

import pytest

from Deployment.observability.sources import swift_files

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = sorted([*ROOT.glob("Shared/*/Scripts"), *ROOT.glob("Services/*/Scripts")])
SCRIPTS = [script for folder in FOLDERS for script in sorted(folder.rglob("*.lua"))]


def test_swift_code_contains_no_script() -> None:
    assert not [str(path.relative_to(ROOT)) for path in swift_files() if re.search(r"\bredis\.p?call\(", path.read_text())]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: str(script.relative_to(ROOT)))
def test_a_script_begins_with_its_description(script: Path) -> None:
    comment = re.match(r"(?:--.*\n)+", script.read_text())
    assert comment, "no comment at the beginning"
    if comment[0].startswith("-- A prefix of scripts that "):
        return
    assert comment[0].startswith(f"-- {script.stem}: ")
    for part in ("KEYS", "[Rr]eturns"):
        assert re.search(rf"\b{part}\b", comment[0]), part
    assert "ARGV" in comment[0] or "ARGV" not in script.read_text()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_names_of_scripts_are_unique_in_a_module(folder: Path) -> None:
    """The module's `PackageResources` has a constant for each file, named without the file's folder."""
    names = Counter(script.name for script in folder.rglob("*.lua"))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_script_is_loaded() -> None:
    for folder in FOLDERS:
        code = "\n".join(path.read_text() for path in swift_files() if path.is_relative_to(folder.parent))
        unused = [script.name for script in folder.rglob("*.lua") if f"PackageResources.{script.stem}_lua" not in code]
        assert not unused, f"{folder.relative_to(ROOT)}: {unused}"


def test_every_folder_of_scripts_is_embedded() -> None:
    assert (ROOT / "Package.swift").read_text().count('.embedInCode("Scripts")') == len(FOLDERS)


def test_the_check_of_the_store_is_tested_with_every_key_name() -> None:
    keys = (ROOT / "Shared/AttributionQueue/Store/Keys.swift").read_text()
    tests = (ROOT / "Tests/AttributionQueueTests/Check/CheckRulesTests.swift").read_text()
    names = set(re.findall(r"^  (?:public )?static (?:let|func) (\w+)", keys, re.MULTILINE))
    # Parts of names, what reads a name, and a key that never exists.
    parts = {"tag", "lines", "deliveries", "shard", "hashTag", "absent"}
    assert "ready" in names
    assert {name for name in names - parts if f"Keys.{name}" not in tests} == set()
