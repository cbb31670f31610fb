"""The number of threads of a service: as configured, or one per available core."""

import os
import pathlib
import resource

import pytest

from SystemTests.support.signer_process import SignerProcess, make_key

CONFIGURATION = "adNetworks: [ { id: example123.skadnetwork, keys: [ { id: a, state: active, path: a.pem } ] } ]\n"


def event_loops(signer: SignerProcess) -> int:
    names = [(task / "comm").read_text() for task in pathlib.Path(f"/proc/{signer.process.pid}/task").iterdir()]
    return sum(name.startswith("NIO-SGLTN") for name in names)


@pytest.fixture
def folder(tmp_path):
    make_key(tmp_path / "a.pem")
    return tmp_path


def test_a_configured_number_of_threads_is_used(folder):
    with SignerProcess(folder, CONFIGURATION, ATTRIBUTION_EVENT_LOOPS="3") as signer:
        assert event_loops(signer) == 3


def test_the_default_is_one_thread_for_each_available_core(folder):
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        process = SignerProcess(folder, CONFIGURATION)
    finally:
        os.sched_setaffinity(0, cores)
    with process as signer:
        assert event_loops(signer) == 1


@pytest.mark.parametrize("value, words", [("0", "must be 1 to 1024"), ("1025", "must be 1 to 1024"), ("two", "must be a number")])
def test_an_invalid_number_of_threads_prevents_the_start_and_is_named(folder, value, words):
    code, log = SignerProcess(folder, CONFIGURATION, ATTRIBUTION_EVENT_LOOPS=value).end_of_start()
    assert code == 78 and f"ATTRIBUTION_EVENT_LOOPS: {words}" in log


def started_with(files: tuple[int, int], *arguments, **variables) -> SignerProcess:
    """A signer with these soft and hard limits of open files. Its Redis, for which it needs event loops early, does not exist."""
    return SignerProcess(
        *arguments, limits=files, ATTRIBUTION_REDIS_URL="redis://127.0.0.1:1/0", **variables)


def test_the_maximum_number_of_threads_is_accepted(folder):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with started_with((256, hard), folder, CONFIGURATION, ATTRIBUTION_EVENT_LOOPS="1024") as signer:
        assert event_loops(signer) == 1024


def test_a_number_of_threads_beyond_the_open_file_limit_prevents_the_start_and_is_named(folder):
    most = (1000 - 32) // 5
    with started_with((1000, 1000), folder, CONFIGURATION, ATTRIBUTION_EVENT_LOOPS=str(most)) as signer:
        assert event_loops(signer) == most
    code, log = started_with((1000, 1000), folder, CONFIGURATION, ATTRIBUTION_EVENT_LOOPS=str(most + 1)).end_of_start()
    assert code == 78 and "ATTRIBUTION_EVENT_LOOPS: needs more open files than the system allows, which is 1000" in log
