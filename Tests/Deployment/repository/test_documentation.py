"""The documents: generated pages are up to date, and files, commands and settings that pages name exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from Deployment.observability.sources import swift_files

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTATION = ROOT / "Documentation"
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *DOCUMENTATION.rglob("*.md")])
# Made of runs; what they name may be of another day.
REPORTS = {"cluster-test.md", "containers-test.md", "fault-test.md", "upgrade-test.md"}
IDS = [str(path.relative_to(ROOT)) for path in PAGES]


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings, and those that are written out."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    made = set()
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")
        made.add(plain)
    return made | set(re.findall(r'<a id="([^"]+)"', text))


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_link_targets_exist(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)):
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), f"{target}: no such file"
        if anchor and found.suffix == ".md":
            assert anchor in anchors(found), f"{target}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_named_files_exist(page: Path) -> None:
    if page.name in REPORTS:
        return
    for name in re.findall(r"`((?:Shared|Services|Tests|Deploy|Documentation|Examples)/[\w./+-]+)`", page.read_text()):
        assert (ROOT / name).exists(), f"{name} is not there"


def test_every_page_is_reachable_from_the_index() -> None:
    index = (DOCUMENTATION / "README.md").read_text()
    named = {target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", index)}
    missing = {page.name for page in DOCUMENTATION.glob("*.md") if page.name != "README.md"} - named
    assert not missing


def test_the_page_about_one_postback_names_existing_files() -> None:
    """Each step names the file where it happens, from the first byte to the push."""
    text = (DOCUMENTATION / "one-postback.md").read_text()
    steps = re.split(r"^\d+\. ", text, flags=re.MULTILINE)[1:]
    assert len(steps) == 15
    for step in steps:
        assert re.search(r"`[\w+]+\.(swift|lua)`|feed\.md|push\.md|200", step), step
    assert len(set(re.findall(r"\]\((\.\./[\w/+.-]+\.(?:swift|lua))\)", text))) > 20


# Pages made from the code


def test_the_configuration_reference_matches_the_code() -> None:
    checked = subprocess.run([sys.executable, DOCUMENTATION / "generate.py", "--check"], capture_output=True, text=True, timeout=60, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_rpc_reference_names_every_method() -> None:
    """That it is as the contract makes it is checked together with all that is made from it (`generate.py --check`)."""
    text = (DOCUMENTATION / "rpc-reference.md").read_text() + (DOCUMENTATION / "event-reference.md").read_text()
    for path in (ROOT / "Shared/AttributionProtocol/Contract").rglob("*.proto"):
        for name in re.findall(r"\brpc (\w+)\(", path.read_text()):
            assert f"\n### {name}\n" in text, name
        for name in re.findall(r"^message (\w+) ", path.read_text(), re.MULTILINE):
            assert f"\n### {name}\n" in text or f"`{name}`" in text, name


def test_every_key_of_the_configuration_is_explained() -> None:
    sys.path.insert(0, str(DOCUMENTATION))
    import generate

    text = (DOCUMENTATION / "configuration.md").read_text()
    words = set(re.findall(r"\w+", text))
    for place, keys in generate.keys().items():
        # `events` is read by nobody any more and is no mistake either.
        assert not set(keys) - words - {"events"}, f"configuration.md does not have {place}: {set(keys) - words}"


def test_every_environment_variable_is_explained_and_is_read() -> None:
    code = "\n".join(path.read_text() for path in swift_files())
    settings = (ROOT / "Shared/ServiceRuntime/Configuration/ServiceVariables.swift").read_text()
    names = set(re.findall(r'(?<![.\w])(?:text|number|flag)\("([a-z.]+)"', settings)) | {
        prefix + part for prefix in re.findall(r'listenerTLS\("([a-z.]+)"\)', settings) for part in ("certificate", "key")}
    read = {"ATTRIBUTION_" + name.replace(".", "_").upper() for name in names}
    read |= set(re.findall(r'"(OTEL_[A-Z_]+)"', code))
    text = (DOCUMENTATION / "configuration.md").read_text()
    explained = set(re.findall(r"`((?:ATTRIBUTION|OTEL)_[A-Z_0-9]+)", text))
    assert read - explained == set()
    # What is named as not read is not read.
    assert explained - read == {"OTEL_EXPORTER_OTLP_PROTOCOL"}


# Logs


def log_calls() -> list[tuple[Path, str]]:
    """The arguments of every line of the log in the code."""
    found = []
    for path in swift_files():
        text = path.read_text()
        for call in re.finditer(r"\b[lL]ogger\.(?:trace|debug|info|notice|warning|error|critical)\(", text):
            depth, at = 1, call.end()
            while depth:
                depth += {"(": 1, ")": -1}.get(text[at], 0)
                at += 1
            found.append((path, text[call.end():at - 1]))
    return found


def fields(arguments: str) -> list[str]:
    found = re.search(r"metadata:\s*\[(.*)\]", arguments, re.DOTALL)
    return re.findall(r'(?:^|,|\n)\s*"([^"\\]+)":', found[1]) if found else []


def vocabulary() -> list[str]:
    text = (DOCUMENTATION / "observability.md").read_text().split("## Logs")[1]
    return re.findall(r"^\| `(\w+)` \| .+ \|$", text, re.MULTILINE)


def test_log_fields_are_documented() -> None:
    calls = log_calls()
    assert len(calls) > 50
    used: set[str] = set()
    for path, arguments in calls:
        names = fields(arguments)
        assert len(set(names)) == len(names), f"{path.name}: a field twice: {names}"
        used |= set(names)
    listed = vocabulary()
    assert len(set(listed)) == len(listed)
    assert used - set(listed) == set(), "fields that Documentation/observability.md does not list"
    # A field that is put together elsewhere is in the code as a text all the same.
    code = "\n".join(path.read_text() for path in swift_files())
    assert {name for name in listed if f'"{name}"' not in code} == set(), "fields that nobody writes"
    assert not set(listed) & {"time", "level", "service", "message", "traceId", "spanId"}


def test_log_fields_contain_no_secret() -> None:
    forbidden = re.compile(r"token|secret|password|passphrase|idfa|idfv|advertis|privateKey|authorization|cookie|\bpin\b", re.IGNORECASE)
    for name in vocabulary():
        assert not forbidden.search(name), name
    for path, arguments in log_calls():
        for value in re.findall(r"\\\(([^()]*(?:\([^()]*\))*)\)", arguments):
            # A term's number is called its token.
            assert value == "term.token" or not forbidden.search(value), f"{path.name}: {value}"


def test_log_messages_are_phrases_without_values_of_fields() -> None:
    """A message is a sentence's beginning, without an end, and no value stands in it that has a field."""
    for path, arguments in log_calls():
        message = re.match(r'\s*"((?:[^"\\]|\\.)*)"', arguments)
        if message and message[1]:
            assert not message[1].endswith((".", "!")), f"{path.name}: {message[1]}"
