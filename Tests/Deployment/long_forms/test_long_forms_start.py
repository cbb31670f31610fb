"""The long forms of the tests of containers and of Redis Cluster start, and those of the system tests are found. What they do in their parts has a
short form that runs each time; here everything runs that only the long form has around the parts."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import Cluster.run
import Containers.run

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOAK = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "Tests").glob("*/**/test_*.py")
              if "ATTRIBUTION_SOAK" in path.read_text() and path != pathlib.Path(__file__).resolve())


class Composed:
    """In place of the composed system: it comes up, and has nothing that a part could use."""

    def __init__(self, calls: list[str]) -> None:
        self.ports = dict.fromkeys(("public", "ingest", "signer", "verifier", "notification-recovery", "asa-token-broker", "simulator"), 1)
        self.calls = calls

    def remove(self) -> None:
        self.calls.append("remove")

    def bring_up(self) -> None:
        self.calls.append("bring up")

    def wait_until_served(self) -> None:
        self.calls.append("served")


@pytest.mark.parametrize("words", [[], ["--only", "2,5", "--seed", "7"], ["--executables", "somewhere", "--pace", "0.5", "--keep"]])
def test_the_long_form_of_the_containers_test_starts(words, tmp_path, monkeypatch):
    calls: list[str] = []
    monkeypatch.setattr(Containers.run, "ROOT", tmp_path)
    monkeypatch.setattr(Containers.run, "composition", lambda *_: Composed(calls))
    monkeypatch.setattr(Containers.run, "build", lambda _engine, data, *_: (data / "token").write_text("token") and {"signer": 1.0})
    monkeypatch.setattr(Containers.run, "set_token_answers", lambda _: calls.append("answers"))

    async def play(_context, modules, _until):
        calls.extend(module.NUMBER for module in modules)

    monkeypatch.setattr(Containers.run, "SimulatorsMaker", lambda *_: None)
    monkeypatch.setattr(Containers.run, "play", play)
    monkeypatch.setattr(sys, "argv", ["run.py", *words])
    Containers.run.main()
    parts = words[1].split(",") if words[:1] == ["--only"] else [str(number) for number in range(1, 8)]
    assert calls == ["remove", "bring up", "served", "answers", *parts, *([] if "--keep" in words else ["remove"])]
    report = (tmp_path / ".build" / "containers-test" / "containers-test.md").read_text()
    assert "somewhere" not in report and ("DIR" in report) == ("--executables" in words)


def test_the_long_form_of_the_cluster_test_starts(tmp_path, monkeypatch):
    sizes = {}
    for part in Cluster.run.PARTS:
        monkeypatch.setattr(part, "run", lambda section, _folder, size, _seed: sizes.update({section.number: size}))
    monkeypatch.setattr(Cluster.run, "reason_against", lambda: None)
    monkeypatch.setattr(Cluster.run, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["run.py", "--deliveries", "1000", "--kills", "10"])
    Cluster.run.main()
    assert {number: (size.deliveries, size.kills) for number, size in sizes.items()} == {
        "1": (1000, 10), "2": (300, 10), "3": (1000, 10), "4": (100, 3), "5": (1000, 10)}
    written = json.loads((tmp_path / ".build" / "cluster-test" / "cluster-test.json").read_text())
    assert [section["number"] for section in written["sections"]] == list("12345")


def test_the_long_forms_of_the_system_tests_are_found():
    assert SOAK
    done = subprocess.run([sys.executable, "-m", "pytest", "--collect-only", "-q", *SOAK], cwd=ROOT, env={**os.environ, "ATTRIBUTION_SOAK": "1"},
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
