"""The index of rules names files that exist, and names that occur in them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
INDEX = ROOT / "Documentation" / "apple-and-our-decisions.md"
ENTRY = re.compile(r"`((?:Shared|Services)/[^`]+)`(?: \(`([^`]+)`\))?")


def test_each_name_in_the_index_of_rules_occurs_in_its_file() -> None:
    entries = ENTRY.findall(INDEX.read_text())
    assert len(entries) > 30
    wrong = [(path, name) for path, name in entries if not (ROOT / path).is_file() or name not in (ROOT / path).read_text()]
    assert not wrong
