"""No folder has too many files, folders of Python tests are packages, and SwiftPM accepts the client library."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MOST_FILES = 16
# Data.
EXEMPT = ("Tests/Vectors", "Tests/Fuzz/Corpus", "Tests/Benchmarks/results")
# Their modules name each other by their folders below Tests.
PACKAGES = ("SystemTests", "Benchmarks", "Cluster", "Containers", "Deployment")


def test_no_folder_has_too_many_files() -> None:
    counts = Counter(
        str(path.parent.relative_to(ROOT)) for folder in ("Shared", "Services", "Tests") for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts)
    large = {folder: count for folder, count in counts.items() if count > MOST_FILES and not folder.startswith(EXEMPT)}
    assert not large, f"more than {MOST_FILES} files; divide them into folders by subject: {large}"


def test_folders_of_python_tests_are_packages() -> None:
    folders = {path.parent for package in PACKAGES for path in (ROOT / "Tests" / package).rglob("*.py")}
    assert not [str(folder.relative_to(ROOT)) for folder in folders if not (folder / "__init__.py").is_file()]


def test_the_client_library_builds_no_module_with_flags_that_packages_may_not_use() -> None:
    """SwiftPM refuses a dependency whose targets have unsafe flags."""
    package = (ROOT / "Package.swift").read_text()
    optimized = set(re.findall(r'"(\w+)"', re.search(r"optimizedModules: Set<String> = \[(.*?)\]", package)[1]))
    targets = {name: set(re.findall(r'"(\w+)"', words)) for name, words in re.findall(r'shared\("(\w+)", \[([^\]]*)\]', package)}
    closure = set(re.findall(r'"(\w+)"', re.search(r'library\(name: "AttributionClient", targets: \[(.*?)\]', package)[1]))
    while more := {name for target in closure for name in targets.get(target, set())} - closure:
        closure |= more
    assert {"WireJSON", "HTTPClient"} < closure and optimized and not closure & optimized
