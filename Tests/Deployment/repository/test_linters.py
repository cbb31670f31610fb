"""Deploy/linters/check: which files it checks, and that each of its tools reports faults."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


def program() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("linters_check", str(ROOT / "Deploy" / "linters" / "check"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    made = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = made  # dataclasses look up their module
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(made)
    sys.dont_write_bytecode = before
    return made


check = program()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository whose only folder has a file of each kind, all without faults."""
    for name, text in {"run": "#!/usr/bin/env bash\necho a\n", "lib.sh": "# shellcheck shell=bash\nA() { echo a; }\n", "make": "#!/usr/bin/python3\n",
                       "checker.py": "A = 1\n", "sum.c": "int sum(void);\nint sum(void) { return 1; }\n", "data": "no script\n",
                       ".build/copy.py": "import os\n", "empty": ""}.items():
        path = tmp_path / "Part" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    return tmp_path


def found(folder: Path) -> object:
    return check.sources(folder, ["Part"])


def test_files_are_known_by_their_suffix_or_their_first_line(folder: Path) -> None:
    files = found(folder)
    assert [path.name for path in files.shell] == ["lib.sh", "run"]
    assert [path.name for path in files.python] == ["checker.py", "make"]
    assert [path.name for path in files.c] == ["sum.c"]


def test_scripts_of_this_repository_are_all_found() -> None:
    files = check.sources(ROOT)
    names = {str(path.relative_to(ROOT)) for path in (*files.shell, *files.python, *files.c)}
    assert {".ci/run", "Deploy/test", "Deploy/lib.sh", "Tests/Fuzz/run", "Deploy/sbom/generate", "Deploy/linters/check", "Examples/shell/consumer",
            "Tests/Benchmarks/run", "Tests/Benchmarks/native/load.c", "Shared/COpenSSL/pkcs11.c", "Tests/SystemTests/conftest.py"} <= names


def test_correct_files_pass(folder: Path) -> None:
    files = found(folder)
    for step in (check.shell_scripts, check.python_files, check.compiler_warnings, check.c_files, check.long_scripts):
        assert step(files) == "", step


@pytest.mark.parametrize("name, text, step, says", [
    ("run", "#!/usr/bin/env bash\nrm $1\n", "shell_scripts", "SC2086"),
    ("checker.py", "import os\n", "python_files", "F401"),
    ("checker.py", "def sum(a: int) -> int:\n    return a\n", "python_files", "A001"),
    ("sum.c", "int sum(long a);\nint sum(long a) { return a; }\n", "compiler_warnings", "implicit conversion"),
    ("sum.c", "int sum(void);\nint sum(void) { int a[2] = {0, 1}; return a[2]; }\n", "c_files", "out of bounds"),
    ("checker.py", "A = 1\n" * 301, "long_scripts", "301 lines"),
], ids=["shellcheck", "ruff", "ruff, another rule", "clang", "cppcheck", "length"])
def test_faults_are_reported(folder: Path, name: str, text: str, step: str, says: str) -> None:
    (folder / "Part" / name).write_text(text)
    assert says in getattr(check, step)(found(folder))


def test_a_tool_that_is_missing_is_a_failure(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(FileNotFoundError):
        check.shell_scripts(found(folder))
