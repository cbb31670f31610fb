"""Only tests that are listed are repeated, and the list names tests that exist."""

import pathlib
import subprocess
import sys

import pytest

import conftest

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_every_listed_test_exists():
    for name in conftest.LISTED:
        path, _, function = name.partition("::")
        assert f"def {function}(" in (ROOT / path).read_text(), name


@pytest.mark.parametrize("text", ["Tests/x.py::test_y", "Tests/x.py::test_y | slow", "Tests/x.py::test_y | | a clock",
                                  "\n".join(f"Tests/x.py::test_{number} | slow | a clock" for number in range(11))])
def test_a_list_that_is_incomplete_or_too_long_is_refused(text):
    with pytest.raises(ValueError, match="unsteady"):
        conftest.unsteady(text)


def test_ten_may_be_listed():
    assert len(conftest.unsteady("# a comment\n\n" + "\n".join(f"x::test_{number} | slow | a clock" for number in range(10)))) == 10


TESTS = """
import pathlib, pytest
counts = {}

@pytest.fixture(scope="module")
def of_the_module():
    counts["fixtures"] = counts.get("fixtures", 0) + 1
    yield
    pathlib.Path("ended").write_text(str(counts["fixtures"]))

def fails_first(name):
    counts[name] = counts.get(name, 0) + 1
    assert counts[name] > 1, "the first time"

def test_listed(of_the_module): fails_first("listed")
@pytest.mark.parametrize("case", [1, 2])
def test_listed_with_cases(of_the_module, case): fails_first(case)
def test_steady(of_the_module): pass
def test_not_listed(): fails_first("other")
def test_listed_that_always_fails(): assert False, "always"
def test_last(of_the_module): assert counts["fixtures"] == 1
"""


@pytest.mark.parametrize("processes", [[], ["-n", "2"]])
def test_a_failure_stays_a_failure_unless_its_test_is_listed(tmp_path, processes):
    (tmp_path / "conftest.py").write_text((ROOT / "Tests" / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "unsteady.txt").write_text("".join(
        f"test_it.py::{name} | fails at first | a clock\n" for name in
        ("test_listed", "test_listed_with_cases", "test_steady", "test_listed_that_always_fails")))
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *processes, "--dist", "loadfile"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "2 failed, 5 passed" in done.stdout, done.stdout
    repeated = done.stdout.split("repeated, because Tests/unsteady.txt names them")[1]
    for name in ("test_listed:", "test_listed_with_cases[1]:", "test_listed_with_cases[2]:", "test_listed_that_always_fails:"):
        assert f"test_it.py::{name} fails at first" in repeated
    assert "test_steady" not in repeated.split("short test summary")[0]
    assert (tmp_path / "ended").read_text() == "1"
