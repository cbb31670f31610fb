"""Documentation/attributionctl.md matches the command's own help."""

import json
import subprocess
import sys

from SystemTests.support.running_system import ROOT

from .command import EXECUTABLE


def test_the_reference_matches_the_command():
    done = subprocess.run([sys.executable, ROOT / "Documentation" / "reference" / "attributionctl.py", EXECUTABLE, "--check"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"python3 Documentation/reference/attributionctl.py {EXECUTABLE} makes it anew:\n{done.stdout}{done.stderr}"


def test_every_command_has_an_example_in_its_help():
    root = json.loads(subprocess.run([EXECUTABLE, "--experimental-dump-help"], capture_output=True, text=True, check=True).stdout)["command"]

    def check(command: dict, path: list[str]) -> int:
        words = [*path, command["commandName"]]
        text = subprocess.run([EXECUTABLE, *words[1:], "--help"], capture_output=True, text=True, check=True).stdout
        assert "xample" in text and "attributionctl " in text.split("xample", 1)[1], words
        return 1 + sum(check(child, words) for child in command.get("subcommands", []) if child["commandName"] != "help")

    assert check(root, []) > 40
