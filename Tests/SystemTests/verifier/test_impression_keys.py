"""The verifier knows the keys that signer currently has."""

import json
import os
import random
import signal
import time

import pytest
import yaml

from SystemTests.differential import impression_keys
from SystemTests.differential.skadnetwork import impressions as skadnetwork_impressions
from SystemTests.support.running_system import start_system, stop_system

from .test_vectors import configured

NETWORK = "example123.skadnetwork"


@pytest.fixture
def rotating(tmp_path):
    """One of two keys is configured; returns the system, and a function that adds the other."""
    networks = impression_keys.configuration(tmp_path)
    keys = {entry["id"]: entry for entry in networks[0]["keys"]}
    path, token = configured(tmp_path, adNetworks=[{"id": NETWORK, "keys": [{**keys["2026-01"], "state": "active"}]}])
    system = start_system(tmp_path, "--config", str(path))
    system.token = token

    def rotate():
        configuration = yaml.safe_load(path.read_text())
        configuration["adNetworks"][0]["keys"] = [keys["2026-01"], keys["2026-07"]]
        path.write_text(yaml.safe_dump(configuration))
        os.kill(system.pid("signer"), signal.SIGHUP)

    yield system, rotate
    stop_system(system)


def test_an_impression_of_a_new_key_is_verified_immediately(rotating):
    system, rotate = rotating
    dice = random.Random(1)

    def impression(key: str) -> dict:
        body = skadnetwork_impressions.good_skadnetwork(dice, "4.0") | {"adNetworkId": NETWORK}
        return impression_keys.sign(body, impression_keys.KEYS[NETWORK][key])

    def ask(key: str) -> dict:
        return system.call("Verifier", "VerifySKAdNetworkImpression", impression(key))

    assert ask("2026-01") == {"valid": True, "keyId": "2026-01"}
    assert ask("2026-07")["reason"] == "bad_signature"
    rotate()
    # Its keys are cached for a minute. If an impression matches none of them, they are queried again within a second.
    until = time.monotonic() + 30
    while (answer := ask("2026-07")) != {"valid": True, "keyId": "2026-07"} and time.monotonic() < until:
        time.sleep(0.2)
    assert answer == {"valid": True, "keyId": "2026-07"}
    # Known keys remain known, and many unsigned impressions do not cause many queries.
    assert ask("2026-01") == {"valid": True, "keyId": "2026-01"}
    items = [{"skadnetworkImpression": impression("2025-01")} for _ in range(500)]
    answer = system.rpc("Verifier", "VerifyBatch", json.dumps({"items": items}).encode())
    assert all(result["skadnetworkImpression"]["reason"] == "bad_signature" for result in answer.json["results"])
