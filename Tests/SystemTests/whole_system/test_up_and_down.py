"""Deploy/up in the foreground, started in one terminal and stopped from another, with Deploy/demo in between."""

import os
import pathlib
import stat
import subprocess
import tempfile

import pytest

from SystemTests.support.running_system import ROOT, free_port_base


@pytest.fixture
def short_path():
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield pathlib.Path(folder)


# A socket's path has at most 107 bytes: with a longer one the services use Redis' port.
@pytest.mark.parametrize("folder, reached_by", [("data", "unix"), ("d" * 100, "redis")])
def test_deploy_up_exits_after_deploy_down_has_stopped_everything(short_path, folder, reached_by):
    base = str(free_port_base())
    data = short_path / folder
    options = ["--data", data, "--port-base", base]
    up = subprocess.Popen([ROOT / "Deploy" / "up", "--skip-build", *options], stdout=subprocess.PIPE, text=True,
                          env={"BUILD_CONFIGURATION": "debug", **os.environ})
    try:
        # It monitors its processes from here on.
        assert any("Ctrl-C stops everything" in line for line in up.stdout), "it ended before it was ready"
        run = data / f"run-{base}"
        pids = running_pids(run)
        address = next(line for line in (run / "ingest.command").read_text().splitlines() if "ATTRIBUTION_REDIS_URL=" in line)
        assert address.split("=", 1)[1].startswith(f"{reached_by}://:")
        if reached_by == "unix":
            assert stat.S_IMODE((run / "redis.sock").stat().st_mode) == 0o700
        else:
            assert not (run / "redis.sock").exists()
        if reached_by == "unix":
            play_demo(options)
        # A process that is stopped by hand does not end the others.
        subprocess.run([ROOT / "Deploy" / "service", "stop", "signer", *options], check=True, capture_output=True, timeout=60)
        assert up.poll() is None
        pids = [*pids, *running_pids(run, stopped=1)]
        subprocess.run([ROOT / "Deploy" / "down", *options], check=True, capture_output=True, timeout=120)
        rest = up.stdout.read()
        assert up.wait(60) == 0 and "ended by Deploy/down" in rest and "warning" not in rest
        assert not any(is_running(pid) for pid in pids)
    finally:
        if up.poll() is None:
            up.terminate()
            up.wait(60)


def play_demo(options: list) -> None:
    """Every path is as expected; the last one is a request for a retention message: an offer with a verified signature, and its event."""
    demo = subprocess.run([ROOT / "Deploy" / "demo", *options], capture_output=True, text=True, timeout=120, check=False)
    assert demo.returncode == 0 and demo.stdout.endswith("\n8 of 8 paths as expected\n"), demo.stdout[-6000:] + demo.stderr[-2000:]
    rows = [[cell.strip() for cell in line.split(" | ")] for line in demo.stdout.splitlines() if " | " in line][1:]
    assert {row[3] for row in rows} == {"yes"} and [row[0][0] for row in rows] == sorted(row[0][0] for row in rows)
    last = {step: outcome for path, step, outcome, _ in rows if path == "8 Retention"}
    assert last["the App Store asks what to show"].endswith("promotionalOffer; the App Store finds wrong: nothing")
    assert last["the offer's signature, for this very transaction"].startswith("openssl: Verified OK, offer ")
    assert last["the feed"].startswith("2 events; rule ") and last["Apple's performance test"].startswith("PASS: ")


def running_pids(run: pathlib.Path, stopped: int = 0) -> list[int]:
    pids = [int(path.read_text()) for path in run.glob("*.pid")]
    assert len(pids) == 7 - stopped and all(is_running(pid) for pid in pids)
    return pids


def is_running(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
