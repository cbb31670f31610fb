"""Makes the part of Documentation/attributionctl.md that the command itself knows: its commands, options, exit codes and variables.

    python3 attributionctl.py EXECUTABLE            writes it into the page
    python3 attributionctl.py EXECUTABLE --check    says what would change, and fails if anything would
"""

import argparse
import difflib
import json
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "attributionctl.md"
BEGIN, END = "<!-- made from the command's own help: Documentation/reference/attributionctl.py -->\n", "<!-- end -->\n"
# Options that every command has are told once.
COMMON = {"help", "version"}


def output(executable: str, *words: str) -> str:
    return subprocess.run([executable, *words], check=True, capture_output=True, text=True).stdout


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def names(argument: dict) -> list[str]:
    return [name["name"] for name in argument.get("names", [])]


def spelled(argument: dict) -> str:
    value = argument.get("valueName", "value")
    if argument["kind"] == "positional":
        word = f"<{value}>" + ("…" if argument.get("isRepeating") else "")
        return f"`{word}`" if not argument.get("isOptional") else f"`[{word}]`"
    words = []
    for name in argument.get("names", []):
        words.append(("--" if name["kind"] == "long" else "-") + name["name"] + (f" <{value}>" if argument["kind"] == "option" else ""))
    return ", ".join(f"`{word}`" for word in words)


def explained(argument: dict) -> str:
    text = cell(argument.get("abstract", ""))
    if argument.get("defaultValue") and "default" not in text:
        text += f" Default: {cell(argument['defaultValue'])}."
    return text


def tables(arguments: list[dict]) -> str:
    rows = [f"| {spelled(one)} | {explained(one)} |" for one in arguments]
    return "" if not rows else "| | |\n| --- | --- |\n" + "\n".join(rows) + "\n\n"


def discussion(text: str) -> str:
    """Its paragraphs; lines that are set in are examples."""
    out, code = [], []

    def close() -> None:
        if code:
            out.append("```sh\n" + "\n".join(code) + "\n```\n")
            code.clear()

    for line in text.splitlines():
        if line.startswith("Example: "):
            close()
            code.append(line.removeprefix("Example: "))
        elif line.strip() == "Examples:":
            close()
        elif line.startswith("  "):
            code.append(line.strip())
        elif line.strip():
            close()
            out.append(line + "\n")
    close()
    return "\n".join(out)


def command(found: dict, path: list[str], connection: dict[str, dict]) -> str:
    title = " ".join([*path, found["commandName"]])
    text = f"{'####' if len(path) > 1 else '###'} {title}\n\n"
    text += found.get("abstract", "") + "\n\n"
    if found.get("discussion"):
        text += discussion(found["discussion"]) + "\n"
    own = []
    for argument in found.get("arguments", []):
        if not argument.get("shouldDisplay", True) or set(names(argument)) & COMMON:
            continue
        if argument.get("sectionTitle") == "Connection":
            connection.setdefault(spelled(argument), argument)
        else:
            own.append(argument)
    text += tables(own)
    for child in found.get("subcommands", []):
        if child["commandName"] != "help" and child.get("shouldDisplay", True):
            text += command(child, [*path, found["commandName"]], connection)
    return text


def made(executable: str) -> str:
    root = json.loads(output(executable, "--experimental-dump-help"))["command"]
    facts = json.loads(output(executable, "reference"))
    connection: dict[str, dict] = {}
    commands = "".join(command(child, ["attributionctl"], connection) for child in root["subcommands"]
                       if child["commandName"] not in ("help", "reference"))
    text = "## Exit codes\n\n| code | meaning |\n| --- | --- |\n"
    text += "".join(f"| {one['code']} | {cell(one['meaning'])} |\n" for one in facts["exitCodes"])
    text += "\n`doctor` also has these:\n\n| code | meaning |\n| --- | --- |\n"
    text += "".join(f"| {one['code']} | {cell(one['meaning'])} |\n" for one in facts["doctorCodes"])
    text += "\n## Variables\n\n| variable | meaning |\n| --- | --- |\n"
    text += "".join(f"| `{one['name']}` | {cell(one['meaning'])} |\n" for one in facts["variables"])
    text += "\n## Options of all commands that call a service\n\n" + tables(list(connection.values()))
    return text + "## Commands\n\n" + commands


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("executable")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    wanted = head + BEGIN + "\n" + made(options.executable).rstrip("\n") + "\n\n" + END + rest.split(END)[1]
    if options.check:
        changes = list(difflib.unified_diff(page.splitlines(), wanted.splitlines(), str(PAGE), "as it should be", lineterm=""))
        print("\n".join(changes))
        sys.exit(1 if changes else 0)
    PAGE.write_text(wanted)


if __name__ == "__main__":
    main()
