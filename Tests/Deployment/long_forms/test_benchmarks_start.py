"""Each benchmark starts: it prepares, measures and reports its first figure. The figures of a debug build beside other tests mean nothing."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARIES = ROOT / ".build" / os.environ.get("BUILD_CONFIGURATION", "debug")
FOLDER = ROOT / "Tests" / "Benchmarks"
# `parts` compares code that only a build with ATTRIBUTION_PARTS=1 contains.
SUITES = sorted({path.stem.removesuffix("_bench") for path in FOLDER.glob("*/*_bench.py")} - {"parts"})


@pytest.mark.parametrize("suite", SUITES)
def test_the_benchmark_starts(suite, tmp_path):
    done = subprocess.run([sys.executable, FOLDER / "run", suite, "--start", "--binaries", BINARIES, "--beside", BINARIES, "--results", tmp_path],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and done.stdout.endswith(f"{suite} starts\n"), done.stdout[-2000:] + done.stderr[-4000:]
    assert not list(tmp_path.iterdir()), "a start is no result"


def test_a_benchmark_that_breaks_does_not_start(tmp_path):
    done = subprocess.run([sys.executable, FOLDER / "run", "signer", "--start", "--binaries", tmp_path], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode != 0 and "signer starts" not in done.stdout
