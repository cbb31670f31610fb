"""DocC shows the documentation comments of the code as they are meant."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
INDENTED = re.compile(r"^ *///     - ", re.MULTILINE)


def test_no_parameter_is_part_of_the_one_before_it() -> None:
    """DocC shows a list item that is indented further than the item before it as a part of that one."""
    found = []
    for path in sorted(path for folder in ("Shared", "Services", "Tests", "Examples") for path in (ROOT / folder).rglob("*.swift")):
        if ".build" in path.parts:
            continue
        text = path.read_text()
        found += [f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, item.start()) + 1}" for item in INDENTED.finditer(text)]
    assert not found, "indented by two spaces too many: " + ", ".join(found)
