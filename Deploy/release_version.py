"""Prints the version that a release gets, for Deploy/release: what the source names, where CHANGELOG.md has it with a date and something to say.

    release_version.py SOURCE CHANGELOG
"""

import datetime
import pathlib
import re
import sys

VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?", re.ASCII)


class Unfit(Exception):
    """Why nothing can be released."""


def version_of_source(path: pathlib.Path) -> str:
    lines = path.read_text().splitlines() if path.exists() else []
    found = [match[1] for line in lines if (match := re.fullmatch(r' *public static let version = "([^"]*)"', line))]
    if len(found) != 1 or not VERSION.fullmatch(found[0]):
        raise Unfit(f"{path} names no semantic version: '{' '.join(found)}'")
    return found[0]


def is_day(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def require_section(path: pathlib.Path, version: str) -> None:
    lines = path.read_text().splitlines()
    start = next((number for number, line in enumerate(lines) if f"## [{version}]" in line), None)
    if start is None:
        raise Unfit(f"{path} has no section '## [{version}] - <date>'")
    day = lines[start].removeprefix(f"## [{version}] - ")
    if not is_day(day):
        raise Unfit(f"{path} has version {version} without a date: '{lines[start]}'")
    end = next((number for number, line in enumerate(lines) if number > start and line.startswith("## ")), len(lines))
    if not any(line.startswith("- ") for line in lines[start:end]):
        raise Unfit(f"{path} says nothing of version {version}")


def main() -> int:
    source, changelog = map(pathlib.Path, sys.argv[1:])
    try:
        version = version_of_source(source)
        require_section(changelog, version)
    except Unfit as reason:
        print(f"error: {reason}", file=sys.stderr)
        return 1
    print(version)
    return 0


if __name__ == "__main__":
    sys.exit(main())
