"""System tests: the real executables, a real Redis and the Apple simulator, started by Deploy/up."""

import json
import os

import pytest
from recovery_system import recovery_system
from running_system import ROOT, start_system, stop_system

VECTORS = ROOT / "Tests" / "Vectors"
BUILD = os.environ.get("BUILD_CONFIGURATION", "debug")


@pytest.fixture(scope="session")
def system(tmp_path_factory):
    running = start_system(tmp_path_factory.mktemp("system"))
    yield running
    stop_system(running)


@pytest.fixture(scope="session")
def recovering(tmp_path_factory):
    """A system whose recovery works in seconds."""
    with recovery_system(tmp_path_factory.mktemp("recovering")) as running:
        yield running


@pytest.fixture(scope="session")
def vectors():
    def load(name: str):
        return json.loads((VECTORS / name).read_text())

    return load
