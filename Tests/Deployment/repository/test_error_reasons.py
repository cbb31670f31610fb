"""Documentation/errors.md lists every reason of an RPC error with its code."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CODES = set(re.findall(r"^  case `?(\w+)`?", (ROOT / "Shared/AttributionProtocol/RPCCode.swift").read_text(), re.MULTILINE))
CODE = rf"\.({'|'.join(sorted(CODES))})\b"
REASON = re.compile(r'reason: "([A-Z]+(?:_[A-Z]+)*)"')
# Of the answers of the App Store, with the code before the reason.
PAIR = re.compile(CODE + r', (?:"([A-Z]+(?:_[A-Z]+)*)"|Self\.refusedByApple)\)')
ROW = re.compile(r"^\| `([A-Z_]+)` \| `([a-z_]+)` \| (.+) \|$", re.MULTILINE)


def snake(name: str) -> str:
    return re.sub(r"(?=[A-Z])", "_", name).lower()


def reasons_in_code() -> dict[str, set[str]]:
    """The codes of each reason. The code is the last one that stands before the reason."""
    found: dict[str, set[str]] = {}
    for path in [path for folder in ("Shared", "Services") for path in (ROOT / folder).rglob("*.swift")]:
        text = path.read_text()
        for match in REASON.finditer(text):
            codes = re.findall(CODE, text[max(0, match.start() - 400):match.start()])
            assert codes, f"{path}: the code of {match[1]} is not in the lines before it"
            found.setdefault(match[1], set()).add(snake(codes[-1]))
        for code, reason in PAIR.findall(text):
            found.setdefault(reason or "APP_STORE_REFUSED", set()).add(snake(code))
    return found


def test_the_table_has_every_reason_once_with_one_of_its_codes() -> None:
    rows = ROW.findall((ROOT / "Documentation/errors.md").read_text())
    names = [reason for reason, _, _ in rows]
    assert names == sorted(set(names))
    found = reasons_in_code()
    assert set(names) == set(found)
    assert not [(reason, code, found[reason]) for reason, code, _ in rows if code not in found[reason]]


def test_the_page_names_every_code_that_the_contract_has() -> None:
    text = (ROOT / "Documentation/errors.md").read_text()
    missing = [snake(code) for code in CODES if f"`{snake(code)}`" not in text]
    assert not missing
