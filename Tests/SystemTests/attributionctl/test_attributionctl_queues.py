"""attributionctl on queues and their dead letters."""

import base64
import json
import subprocess
import time
import uuid

import pytest
import yaml

from SystemTests.support.running_system import redis_words

from .command import EXECUTABLE, ctl, ctl_json, environment
from .steps import APP

SHARD = "{attr:017}"


def eventually(what: str, condition, seconds: float = 30):
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, f"not in time: {what}"
        time.sleep(0.05)
    return found


def test_queues_are_shown_in_each_format_and_a_dry_run_does_not_pause(system):
    answer = ctl_json(system, "queues")
    assert {queue["name"] for queue in answer["queues"]} == {"intake", "tokens", "sessions", "gaps", "migrations", "reports"}
    as_yaml = yaml.safe_load(ctl(system, "queues", "-o", "yaml").stdout)
    assert {queue["name"] for queue in as_yaml["queues"]} == {queue["name"] for queue in answer["queues"]}
    table = ctl(system, "queues", "list", "intake").stdout.splitlines()
    assert table[0].split()[0] == "QUEUE" and table[1].split()[0] == "intake" and len(table) == 2
    assert ctl(system, "queues", "pause", "gaps", "--dry-run").returncode == 0
    assert not ctl_json(system, "queues", "list", "gaps")["queues"][0].get("paused")
    try:
        assert ctl(system, "queues", "pause", "gaps").stdout.split()[-1] == "paused"
        well = ctl(system, "doctor", "--problems", "--local-only")
        assert "queues resume gaps" in well.stdout, well
    finally:
        assert ctl(system, "queues", "resume", "gaps").returncode == 0
    assert "form" in ctl(system, "queues", "store").stdout


@pytest.fixture
def dead_letters(system):
    """Adds unreadable entries to a queue in Redis; they become dead letters, and again after each replay."""
    ids = [f"017-{uuid.uuid4().hex}" for _ in range(3)]
    for one in ids:
        redis_words(system, "XADD", f"{SHARD}:q:intake", "*", "i", one, "k", "test", "b", "the body", "a", "none")

    def found():
        letters = ctl_json(system, "dead-letters", "list", "--queue", "intake", "--kind", "test", "--limit", "1000").get("deadLetters", [])
        return {letter["id"] for letter in letters} >= set(ids)

    eventually("all are dead letters", found)
    yield ids
    redis_words(system, "DEL", f"{SHARD}:q:intake:dead")


def test_dead_letters_are_listed_shown_replayed_and_purged(system, dead_letters):
    first, second, third = dead_letters
    table = ctl(system, "dead-letters", "--kind", "test", "--error", "CANNOT be read").stdout
    assert all(one in table for one in dead_letters)
    assert ctl_json(system, "dead-letters", "list", "--error", "something else").get("deadLetters", []) == []
    shown = ctl_json(system, "dead-letters", "show", first)
    assert shown["deadLetter"]["id"] == first and base64.b64decode(shown["body"]) == b"the body" if "body" in shown else True
    assert "cannot be read" in ctl(system, "dead-letters", "show", first).stdout

    dry = ctl_json(system, "dead-letters", "replay", "--queue", "intake", "--kind", "test", "--dry-run")
    assert dry["dryRun"] is True and {letter["id"] for letter in dry["deadLetters"]} >= set(dead_letters)
    before = shown["deadLetter"]["diedAt"]
    assert ctl_json(system, "dead-letters", "replay", first) == {"replayed": 1}

    def is_dead_again():
        done = ctl(system, "dead-letters", "show", first, "-o", "json")
        return done.returncode == 0 and json.loads(done.stdout)["deadLetter"]["diedAt"] > before

    eventually("the replayed message is a dead letter again", is_dead_again)

    refused = ctl(system, "dead-letters", "purge", second)
    assert refused.returncode == 64 and "--yes" in refused.stderr, refused
    assert ctl_json(system, "dead-letters", "purge", second, "--yes") == {"purged": 1}
    gone = ctl(system, "dead-letters", "show", second)
    assert gone.returncode == 3 and "no dead letter" in gone.stderr, gone
    assert ctl_json(system, "dead-letters", "purge", "--queue", "intake", "--kind", "test", "--yes")["purged"] >= 2
    assert ctl(system, "dead-letters", "replay", third).returncode == 3
    wrong = ctl(system, "dead-letters", "show", "017-nothing")
    assert wrong.returncode == 65 and "id" in wrong.stderr, wrong


def test_any_number_of_dead_letters_is_processed_and_bodies_are_unchanged(system):
    """There is more than a page of dead letters, the wanted one is on the second page, and one body is not text."""
    more = 1001
    script = """for i = 1, tonumber(ARGV[1]) do
        redis.call('XADD', KEYS[1], '*', 'i', '017-' .. ARGV[2] .. string.format('%08x', i),
          'k', i > 1000 and 'far' or 'near', 'b', ARGV[3], 'd', '1', 'x', 'e')
        end"""
    prefix = uuid.uuid4().hex[:24]
    redis_words(system, "EVAL", script, "1", f"{SHARD}:q:sessions:dead", more, prefix, "a body")
    try:
        found = ctl_json(system, "dead-letters", "purge", "--queue", "sessions", "--kind", "far", "--dry-run")["deadLetters"]
        assert [letter["id"] for letter in found] == [f"017-{prefix}{more:08x}"]
        page = system.call("Queues", "ListDeadLetters", {"queue": "sessions", "maxLetters": 1000})
        rest = system.call("Queues", "ListDeadLetters", {"queue": "sessions", "maxLetters": 1000, "pageToken": page["nextPageToken"]})
        ids = [letter["id"] for letter in page["deadLetters"] + rest["deadLetters"]]
        assert len(ids) == len(set(ids)) >= more and "nextPageToken" not in rest
        for token in ("sessions:1-2", "sessions:256-1-1", "intake:1-1-1", "sessions:17-x-1", "17-1-1", ""):
            refused = system.rpc("Queues", "ListDeadLetters", {"queue": "sessions", "pageToken": token})
            assert refused.status == 400 and b"pageToken" in refused.body, (token, refused)
        assert ctl_json(system, "dead-letters", "purge", "--queue", "sessions", "--kind", "near", "--yes")["purged"] == 1000
        assert ctl_json(system, "dead-letters", "purge", "--queue", "sessions", "--all", "--yes")["purged"] >= 1
        assert ctl_json(system, "dead-letters", "list", "--queue", "sessions").get("deadLetters", []) == []
    finally:
        redis_words(system, "DEL", f"{SHARD}:q:sessions:dead")

    # A dead letter whose body is not UTF-8 is shown unchanged, and purged.
    assert ctl(system, "queues", "pause", "sessions").returncode == 0
    try:
        one = system.post("/v1/sessions", {"bundleId": APP, "installId": str(uuid.uuid4()), "attStatus": 0}).json["id"]
        stream = f"{{attr:{one[:3]}}}:q:sessions"
        redis_words(system, "EVAL", """local entry = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
            for i = 1, #entry[2], 2 do if entry[2][i] == 'b' then entry[2][i + 1] = '\\255\\0\\254' end end
            redis.call('XADD', KEYS[2], '*', 'd', '1', 'x', 'by hand', unpack(entry[2]))
            return redis.call('XDEL', KEYS[1], entry[1])""", 2, stream, f"{stream}:dead")
        raw = subprocess.run(
            [EXECUTABLE, "dead-letters", "show", one, "--body"], capture_output=True, env=environment(system), timeout=60, check=False
        )
        assert raw.returncode == 0 and raw.stdout == b"\xff\x00\xfe", raw
        assert ctl_json(system, "dead-letters", "purge", one, "--yes") == {"purged": 1}
    finally:
        assert ctl(system, "queues", "resume", "sessions").returncode == 0


def test_rejected_deliveries_are_judged_again(system):
    def forged() -> str:
        made = json.loads(system.control("/control/skadnetwork/postbacks", {"version": "4.0", "send": False})["body"])
        return system.post("/v1/postbacks", json.dumps({**made, "transaction-id": str(uuid.uuid4())})).json["id"]

    def rejected(id: str) -> dict:
        return eventually("it is rejected", lambda: (found := system.call("Ingest", "GetDelivery", {"id": id}))["state"] == "rejected" and found)

    ids = [forged() for _ in range(3)]
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60))
    assert [rejected(id)["reason"] for id in ids] == ["bad_signature"] * 3
    answer = ctl_json(system, "deliveries", "reverify", "--id", ids[0], "--id", ids[1])
    assert answer["queued"] == 2 and [one["id"] for one in answer["deliveries"]] == ids[:2]
    assert all(rejected(id)["reverificationOf"] == f"rejected:{id}" for id in ids[:2])
    words = ["--reason", "bad_signature", "--kind", "skadnetwork-postback", "--since", since]
    assert {one["id"] for one in ctl_json(system, "deliveries", "reverify", *words)["deliveries"]} >= set(ids)
    for id in ids:
        rejected(id)
    assert ctl_json(system, "deliveries", "reverify", "--until", "2020-01-01") == {"queued": 0, "deliveries": []}
    everything = ctl(system, "deliveries", "reverify", "--all").stdout.split()
    assert everything[0] == "queued" and int(everything[1]) >= 3
    for id in ids:
        rejected(id)
    shown = ctl(system, "deliveries", "show", ids[0]).stdout
    assert f"published as rejected:{ids[0]}" in shown
    stranger = f"017-{uuid.uuid4().hex}"
    unknown = ctl(system, "deliveries", "reverify", "--id", stranger, "--id", ids[2])
    assert unknown.returncode == 3 and f"{stranger} cannot be judged again: not_found" in unknown.stderr and "queued" in unknown.stdout
    for words, code, text in [
        ([], 64, "--all"), (["--id", ids[0], "--all"], 64, "--id"), (["--all", "--kind", "notification"], 64, "--all"),
        (["--kind", "session"], 65, "kind"), (["--reason", "malformd"], 65, "reason"), (["--id", "017-x"], 65, "ids[0]"),
        (["--since", "soon"], 64, "--since"),
    ]:
        refused = ctl(system, "deliveries", "reverify", *words)
        assert refused.returncode == code and text in refused.stderr, refused
