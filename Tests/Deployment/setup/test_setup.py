"""Deploy/setup: the files that it calls, and the apps that it and Deploy/up configure in the simulator."""

import json
import re
import subprocess
from pathlib import Path

import pytest

import simulator_apps

ROOT = Path(__file__).resolve().parents[3]
URL = "http://balancer:8080/v1/app-store/notifications"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """Creates keys as Deploy/setup does."""
    subprocess.run(["bash", "-c", 'source Deploy/development.sh; make_keys "$0"', tmp_path / "keys"], cwd=ROOT, check=True, timeout=60)
    return tmp_path / "keys"


def printed(keys: Path) -> subprocess.CompletedProcess[str]:
    """Creates the file as Deploy/setup does."""
    script = 'source Deploy/development.sh; configured_apps "$0" | /usr/bin/python3 Deploy/simulator_apps.py --notifications "$1"'
    return subprocess.run(["bash", "-c", script, keys, URL], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


def test_the_simulator_gets_the_app_of_the_first_configuration(keys: Path) -> None:
    done = printed(keys)
    assert done.returncode == 0, done.stderr
    [app] = json.loads(done.stdout)["apps"]
    assert (app["bundleId"], app["appAppleId"]) == ("com.example.app", 525463029)
    assert app["notificationURLs"] == {"Production": URL, "Sandbox": URL}
    assert [(key["issuerId"], key["keyId"]) for key in app["apiKeys"]] == [
        ("57246542-96fe-1a63-e053-0824d011072a", "2X9R4HXF34"), ("57246542-96fe-1a63-e053-0824d011072a", "2X9R4HXF35")]
    halves = {key["publicKey"] for key in app["apiKeys"]}
    assert len(halves) == 2
    assert all(half.startswith("-----BEGIN PUBLIC KEY-----\n") and half.endswith("\n-----END PUBLIC KEY-----\n") for half in halves)


def test_a_private_key_that_cannot_be_read_is_named(keys: Path) -> None:
    (keys / "OfferKey.p8").unlink()
    done = printed(keys)
    assert done.returncode != 0
    assert done.stdout == ""
    assert "com.example.app: openssl cannot read the private key of 2X9R4HXF35" in done.stderr


def test_apps_without_keys_and_configurations_without_apps_are_passed_to_the_simulator() -> None:
    assert simulator_apps.apps({"apps": [{"bundleId": "com.example.other"}]}, ROOT, URL) == [
        {"bundleId": "com.example.other", "appAppleId": None, "notificationURLs": {"Production": URL, "Sandbox": URL}, "apiKeys": []}]
    assert simulator_apps.apps({}, ROOT, URL) == []


def test_the_image_has_every_file_that_setup_calls() -> None:
    called = set(re.findall(r"\$HERE/([\w.-]+)", (ROOT / "Deploy/setup").read_text()))
    copies = re.findall(r"^COPY (.+) /usr/local/lib/attribution/$", (ROOT / "Deploy/Dockerfile").read_text(), re.MULTILINE)
    copied = {Path(name).name for words in copies for name in words.split()}
    assert "simulator_apps.py" in called
    assert called <= copied
