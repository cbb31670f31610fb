"""Folders are small enough to be read at a glance."""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_FILES = 16
# Data, and tests in Python, which are found by their names.
EXEMPT = ("Tests/Vectors", "Tests/Fuzz/Corpus", "Tests/SystemTests", "Tests/Benchmarks", "Tests/Cluster", "Tests/Deployment")


def test_no_folder_is_flat() -> None:
    counts = Counter(
        str(path.parent.relative_to(ROOT)) for folder in ("Shared", "Services", "Tests") for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts)
    large = {folder: count for folder, count in counts.items() if count > MOST_FILES and not folder.startswith(EXEMPT)}
    assert not large, f"more than {MOST_FILES} files: give them folders by what is done there: {large}"
