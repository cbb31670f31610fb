"""attributionctl against a running system: what operators do with it, wrong input, and how it ends."""

import base64
import csv
import io
import json
import os
import pty
import select
import signal
import stat
import subprocess
import time
import uuid

import pytest
import yaml
from attributionctl import EXECUTABLE, ctl, ctl_json, environment, lines, started, written
from conftest import ROOT
from running_system import redis_words

APP = "com.example.app"
GENUINE = ROOT / "Deploy" / "genuine-postback.json"
REJECTED = "attribution.skadnetwork.postback.rejected.v1"
SHARD = "{attr:017}"


def forged() -> dict:
    """A postback that nobody signed; each is another."""
    return {**json.loads(GENUINE.read_text()), "transaction-id": str(uuid.uuid4())}


def received(system, count: int) -> list[str]:
    """Deliveries that were rejected, each with an event on the feed; their ids."""
    ids = []
    for _ in range(count):
        answer = system.post("/v1/postbacks", forged())
        assert answer.status == 200, answer
        ids.append(answer.json["id"])
    until = time.monotonic() + 30
    for one in ids:
        while system.call("Ingest", "GetDelivery", {"id": one})["state"] == "accepted":
            assert time.monotonic() < until
            time.sleep(0.02)
    return ids


def eventually(what: str, condition, seconds: float = 30):
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, f"not in time: {what}"
        time.sleep(0.05)
    return found


def on_terminal(system, *words, **more: str) -> tuple[int, str]:
    """A command whose streams are a terminal: how it ends, and what is on the terminal then."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(EXECUTABLE, [str(EXECUTABLE), *map(str, words)], {"TERM": "xterm", **environment(system, **more)})
    text = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode()


# --- queues and dead letters -----------------------------------------------------------------------------------------------

def test_queues_in_each_form_and_paused_only_where_it_is_meant(system):
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
    """Entries that no worker can read, left by a hand in Redis: they become dead letters, and do so again when they are put back."""
    ids = [f"017-{uuid.uuid4().hex}" for _ in range(3)]
    for one in ids:
        redis_words(system, "XADD", f"{SHARD}:q:intake", "*", "i", one, "k", "test", "b", "the body", "a", "none")

    def found():
        letters = ctl_json(system, "dead-letters", "list", "--queue", "intake", "--kind", "test", "--limit", "1000").get("deadLetters", [])
        return {letter["id"] for letter in letters} >= set(ids)

    eventually("all are dead letters", found)
    yield ids
    redis_words(system, "DEL", f"{SHARD}:q:intake:dead")


def test_dead_letters_are_listed_shown_put_back_and_deleted(system, dead_letters):
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

    def again():
        done = ctl(system, "dead-letters", "show", first, "-o", "json")
        return done.returncode == 0 and json.loads(done.stdout)["deadLetter"]["diedAt"] > before

    eventually("it is dead again", again)

    refused = ctl(system, "dead-letters", "purge", second)
    assert refused.returncode == 64 and "--yes" in refused.stderr, refused
    assert ctl_json(system, "dead-letters", "purge", second, "--yes") == {"purged": 1}
    gone = ctl(system, "dead-letters", "show", second)
    assert gone.returncode == 3 and "no dead letter" in gone.stderr, gone
    assert ctl_json(system, "dead-letters", "purge", "--queue", "intake", "--kind", "test", "--yes")["purged"] >= 2
    assert ctl(system, "dead-letters", "replay", third).returncode == 3
    wrong = ctl(system, "dead-letters", "show", "017-nothing")
    assert wrong.returncode == 65 and "id" in wrong.stderr, wrong


def test_dead_letters_of_any_number_are_worked_to_the_end_and_bodies_come_as_they_were(system):
    """More than a page of them, those that are meant behind it, and a body that is no text."""
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

    # One that waits, given up by hand, with bytes that are no UTF-8 in the place of its body.
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


# --- deliveries and events ---------------------------------------------------------------------------------------------------

def test_a_delivery_is_sent_and_its_story_told_to_who_has_read_it(system):
    name = f"story-{uuid.uuid4().hex[:8]}"
    made = ctl(system, "subscriptions", "create", name, "--start", "now", "--type", "rejected")
    assert made.returncode == 0 and "rejected" in made.stdout, made
    assert ctl(system, "subscriptions", "create", f"{name}-other", "--start", "now", "--type", "gap").returncode == 0
    sent = ctl(system, "send", "postback", "-", "--wait", stdin=json.dumps(forged()))
    assert sent.returncode == 1 and "bad_signature" in sent.stdout and "published" in sent.stdout, sent
    id = next(line.split()[1] for line in sent.stdout.splitlines() if line.startswith("id "))
    story = ctl_json(system, "deliveries", "show", id)
    assert story["state"] == "rejected" and [step["step"] for step in story["steps"]] == ["accepted", "rejected", "published"]
    assert story["event"]["data"]["deliveryId"] == id
    readers = {one["subscription"]: one["state"] for one in story["readers"]}
    assert readers[name] == "waiting" and readers[f"{name}-other"] == "unwanted"
    pulled = system.call("Events", "PullEvents", {"subscription": name, "maxEvents": 1, "waitMilliseconds": 5000})["events"]

    def state():
        return {one["subscription"]: one["state"] for one in ctl_json(system, "deliveries", "show", id)["readers"]}[name]

    assert state() == "leased"
    system.call("Events", "AcknowledgeEvents", {"subscription": name, "ackIds": [pulled[0]["ackId"]]})
    assert state() == "done"
    assert json.loads(ctl(system, "deliveries", "show", id, "--body").stdout)["ad-network-id"] == "com.example"
    shown = ctl(system, "events", "show", story["event"]["id"])
    assert shown.returncode == 0 and "bad_signature" in shown.stdout, shown
    for one in (name, f"{name}-other"):
        assert ctl(system, "subscriptions", "delete", one, "--yes").returncode == 0
    assert ctl(system, "deliveries", "show", f"000-{'0' * 32}").returncode == 3
    assert ctl(system, "events", "show", "nobody").returncode == 3


def test_events_are_followed_and_the_reader_leaves_nothing_behind(system):
    tail = started(system, "events", "tail", "--type", "skadnetwork", "--output", "json")
    assert "following" in tail.stderr.readline()
    ids = received(system, 3)
    seen = [json.loads(tail.stdout.readline()) for _ in ids]
    assert {event["data"]["deliveryId"] for event in seen} == set(ids)
    assert any(one.startswith("attributionctl-tail-") for one in names(system))
    tail.send_signal(signal.SIGINT)
    assert tail.wait(20) == 130
    assert not any(one.startswith("attributionctl-tail-") for one in names(system))

    past = ctl(system, "events", "tail", "--since", "1h", "--no-follow", "--type", REJECTED, "--max", "2", "-o", "json")
    assert past.returncode == 0 and len(lines(past.stdout)) == 2, past
    decoded = ctl(system, "events", "tail", "--since", "1h", "--no-follow", "--type", REJECTED, "--max", "1", "--decode")
    assert "    reason: " in decoded.stdout and decoded.stdout.count(REJECTED) == 1, decoded
    # Whoever reads it goes: nothing is wrong, and nothing is left.
    tail = started(system, "events", "tail", "--since", "1h", "-o", "json")
    tail.stdout.readline()
    tail.stdout.close()
    received(system, 1)
    assert tail.wait(30) == 0
    assert not any(one.startswith("attributionctl-tail-") for one in names(system))
    wrong = ctl(system, "events", "tail", "--type", "notificaton")
    assert wrong.returncode == 64 and "Did you mean notification?" in wrong.stderr, wrong


def names(system) -> list[str]:
    return [one["name"] for one in system.call("Events", "ListSubscriptions", {}).get("subscriptions", [])]


def test_an_export_holds_each_event_once_and_goes_on_where_it_ended(system, tmp_path):
    ids = received(system, 40)
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    words = ["--from", "1h", "--to", until, "--type", "skadnetwork"]
    whole = tmp_path / "whole.jsonl"
    done = ctl(system, "events", "export", *words, "--file", whole)
    assert done.returncode == 0, done
    events = written(whole)
    assert {event["data"]["deliveryId"] for event in events} >= set(ids) and len({event["id"] for event in events}) == len(events)
    times = [event["time"] for event in events]
    assert stat.S_IMODE(whole.stat().st_mode) == 0o600
    # The order is that of publication, which comes within moments of an event's own time.
    assert times[0] <= times[-1]
    again = ctl(system, "events", "export", *words, "--file", whole)
    assert again.returncode == 0 and "complete already" in again.stdout and written(whole) == events

    # As it would be left by a command that was killed while it wrote a page: whole pages, and a part of one.
    state = json.loads((tmp_path / "whole.jsonl.export.json").read_text())
    page = system.call("Events", "ListEvents", {
        "types": state["request"]["types"], "startTime": state["start"], "endTime": state["end"], "maxEvents": 7})
    first = b"".join(json.dumps(event).encode() + b"\n" for event in page["events"])
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(first + b'{"specversion":"1.0","id":')
    (tmp_path / "cut.jsonl.export.json").write_text(json.dumps(
        {**state, "pageToken": page["nextPageToken"], "bytes": len(first), "events": 7, "complete": False}))
    resumed = ctl(system, "events", "export", *words, "--file", cut)
    assert resumed.returncode == 0 and written(cut) == events, resumed
    other = ctl(system, "events", "export", "--from", "2h", "--file", cut)
    assert other.returncode == 65 and "--restart" in other.stderr, other
    (tmp_path / "mine").write_text("something else")
    assert ctl(system, "events", "export", *words, "--file", tmp_path / "mine").returncode == 73
    assert ctl(system, "events", "export", *words, "--file", tmp_path / "none" / "f").returncode == 73

    table = tmp_path / "events.csv"
    assert ctl(system, "events", "export", *words, "--format", "csv", "--columns", "id,data.reason,data.postback", "--file", table).returncode == 0
    rows = list(csv.reader(io.StringIO(table.read_bytes().decode())))
    assert rows[0] == ["id", "data.reason", "data.postback"] and [row[0] for row in rows[1:]] == [event["id"] for event in events]
    piped = ctl(system, "events", "export", "--from", "1h", "--type", REJECTED, "--file", "-")
    assert len(lines(piped.stdout)) >= 40
    dry = ctl(system, "events", "export", *words, "--file", tmp_path / "dry", "--dry-run")
    assert dry.returncode == 0 and not (tmp_path / "dry").exists(), dry


def test_an_export_goes_on_wherever_it_is_killed(system, tmp_path):
    """Killed again and again, before its first page and within later ones: each event once in the end, in the order of a whole export."""
    received(system, 30)
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    words = ["events", "export", "--from", "1h", "--to", until, "--type", "skadnetwork"]
    cut, whole = tmp_path / "cut.jsonl", tmp_path / "whole.jsonl"
    # Stopped at the first trace it leaves, whatever that is: what is there then is enough to go on from.
    traces = 0
    for pause in (0, 0, 0.005, 0.01, 0.02):
        running = started(system, *words, "--file", cut)
        while not any(tmp_path.iterdir()) and running.poll() is None:
            time.sleep(0.001)
        time.sleep(pause)
        running.kill()
        running.communicate()
        traces += running.returncode == -signal.SIGKILL
    assert traces
    done = ctl(system, *words, "--file", cut)
    assert done.returncode == 0, done
    assert ctl(system, *words, "--file", whole).returncode == 0
    events = written(cut)
    assert events == written(whole)[:len(events)] and len({event["id"] for event in events}) == len(events) >= 30
    # It says up to where it is complete by the clock of the services, not by the end that lies ahead of it.
    state = json.loads((tmp_path / "cut.jsonl.export.json").read_text())
    assert state["complete"] and state["end"] < until


def test_streams_that_end_early_or_are_closed(system, tmp_path):
    """Nothing is wrong where the reader has gone, and what is said goes into no file that took a closed stream's number."""
    def shell(line: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, timeout=60, env=environment(system), cwd=tmp_path, check=False
        )

    received(system, 3)
    for words in ("queues", "events export --from 1h --file -", "events tail --since 1h --no-follow", "doctor --local-only"):
        gone = shell(f"{EXECUTABLE} {words} | true")
        assert gone.returncode == 0 and "error" not in gone.stderr, (words, gone)
        closed = shell(f"{EXECUTABLE} {words} >&-")
        assert closed.returncode == 73 and "standard output cannot be written" in closed.stderr, (words, closed)
    full = shell(f"{EXECUTABLE} events export --from 1h --file - > /dev/full")
    assert full.returncode == 73 and "standard output" in full.stderr, full
    quiet = shell(f"{EXECUTABLE} events export --from 1h --file quiet.jsonl <&- >&- 2>&-")
    assert quiet.returncode == 73 and len(written(tmp_path / "quiet.jsonl")) >= 3
    assert shell(f"{EXECUTABLE} verify <&-").returncode == 66
    assert shell(f"{EXECUTABLE} qeues 2>&1").stdout.endswith("Did you mean queues?\n")


# --- signing and verifying ---------------------------------------------------------------------------------------------------

def test_what_was_signed_is_verified(system, tmp_path):
    for words, kind in ((["skadnetwork", "--ad-network", "example123.skadnetwork", "--source-identifier", "5239", "--item", "525463029",
                          "--source-app", "0"], "SKAdNetwork impression"),
                        (["skadnetwork", "--ad-network", "example123.skadnetwork", "--protocol-version", "2.0", "--campaign", "39", "--item",
                          "525463029", "--source-app", "0"], "SKAdNetwork impression"),
                        (["adattributionkit", "--ad-network", "example123.adattributionkit", "--source-identifier", "5239", "--item",
                          "525463029", "--publisher", "0"], "AdAttributionKit impression")):
        signed = ctl(system, "sign", *words, "-o", "json")
        assert signed.returncode == 0, signed
        verdict = ctl_json(system, "verify", "-", stdin=signed.stdout)
        assert verdict["valid"] is True and verdict["kind"] == kind, verdict
        # The same without a service, by the public half.
        (tmp_path / "key.pem").write_text(ctl(system, "keys", "show", verdict["keyId"]).stdout)
        offline = ctl_json(None, "verify", "--offline", "--public-key", tmp_path / "key.pem", stdin=signed.stdout)
        assert offline["valid"] is True, offline
        assert ctl(None, "verify", "--offline", stdin=signed.stdout).returncode == 64
    assert ctl(system, "sign", "token", "--bundle-id", APP, "-o", "json").stdout.count(".") >= 2
    for words in (["offer", "--product", "p", "--offer", "o"], ["offer-jws", "--product", "p", "--offer", "o"],
                  ["introductory-offer", "--product", "p", "--transaction-id", "1", "--allow"]):
        assert ctl(system, "sign", words[0], "--bundle-id", APP, *words[1:]).returncode == 0, words
    refused = ctl(system, "sign", "skadnetwork", "--ad-network", "example123.skadnetwork", "--source-identifier", "10000", "--item", "1",
                  "--source-app", "0")
    assert refused.returncode == 65 and "sourceIdentifier" in refused.stderr, refused
    assert ctl(system, "sign", "token", "--bundle-id", "com.example.nobody").returncode in (3, 4, 65)


def test_what_a_file_holds_is_seen_and_judged(system, tmp_path):
    for more in ([], ["--offline"]):
        right = ctl_json(system, "verify", GENUINE, *more)
        assert right["valid"] is True and right["kind"] == "SKAdNetwork postback" and right["unsigned"] == {"conversion-value": 63}
        wrong = ctl_json(system, "verify", *more, code=1, stdin=json.dumps(forged()))
        assert wrong["valid"] is False and wrong["reason"].startswith("bad_signature")
        assert ctl(system, "verify", *more, stdin="what is this?").returncode == 65
        assert ctl(system, "verify", "/nonexistent", *more).returncode == 66
    many = tmp_path / "many.jsonl"
    many.write_text("\n".join(json.dumps(one) for one in (json.loads(GENUINE.read_text()), forged())) + "\n")
    assert [one["valid"] for one in ctl_json(system, "verify", many, code=1)] == [True, False]
    # What cannot be read keeps nothing else from being judged.
    many.write_text("\n\n".join([json.dumps(json.loads(GENUINE.read_text())), "{broken", "a receipt?", json.dumps(forged())]) + "\n")
    for more in ([], ["--offline"]):
        told = ctl_json(system, "verify", many, *more, code=1)
        assert [(one["line"], one["kind"], one["valid"]) for one in told] == [
            (1, "SKAdNetwork postback", True), (3, "unreadable", False), (5, "unreadable", False), (7, "SKAdNetwork postback", False)], told
    notification = system.control(
        "/control/notifications", {"bundleId": APP, "environment": "Production", "notificationType": "DID_RENEW", "send": False}
    )
    told = ctl_json(system, "verify", stdin=json.dumps({"signedPayload": notification["signedPayload"]}))
    assert told["valid"] is True and told["kind"] == "App Store notification" and told["content"]["notificationType"] == "DID_RENEW"
    # The simulator is not Apple: the built-in root does not vouch for it.
    foreign = ctl_json(None, "verify", "--offline", code=1, stdin=notification["signedPayload"])
    assert foreign["reason"] == "chain_invalid", foreign
    other = ctl_json(system, "verify", "--bundle-id", "com.example.other", code=1, stdin=notification["signedPayload"])
    assert other["reason"] == "wrong_app", other
    receipt = ctl_json(system, "verify", stdin='{"status":0,"receipt":{"in_app":[{"original_transaction_id":"77"}]}}')
    assert "valid" not in receipt and receipt["content"]["originalTransactionIds"] == ["77"], receipt


def test_keys_by_state(system):
    keys = ctl_json(system, "keys", "list", "--state", "active")["keys"]
    assert {key["keyId"] for key in keys} >= {"dev-1", "dev-2"}
    assert ctl_json(system, "keys", "list", "--state", "revoked").get("keys", []) == []
    pem = ctl(system, "keys", "show", "dev-1").stdout
    assert subprocess.run(["openssl", "pkey", "-pubin", "-noout"], input=pem, text=True, capture_output=True, check=False).returncode == 0
    assert ctl(system, "keys", "show", "dev-9").returncode == 3


def test_sessions_tokens_and_notifications_are_sent(system, tmp_path):
    dry = ctl_json(system, "send", "session", "--bundle-id", APP, "--install-id", "ctl-1", "--att-status", "3", "--dry-run")
    assert dry["body"]["attStatus"] == 3 and dry["url"].endswith("/v1/sessions")
    assert ctl(system, "send", "session", "--bundle-id", APP, "--install-id", f"ctl-{uuid.uuid4().hex}", "--att-status", "3").returncode == 0
    refused = ctl(system, "send", "session", "--bundle-id", APP, "--install-id", "ctl-1", "--att-status", "9x")
    assert refused.returncode == 64, refused
    (tmp_path / "token").write_text("\n")
    assert ctl(system, "send", "token", tmp_path / "token", "--bundle-id", APP).returncode == 65
    made = system.control("/control/notifications", {"bundleId": APP, "environment": "Production", "notificationType": "DID_RENEW", "send": False})
    sent = ctl(system, "send", "notification", "-", "--wait", stdin=made["signedPayload"])
    assert sent.returncode == 0 and "verified" in sent.stdout, sent
    asked = ctl(system, "send", "notification", "--bundle-id", APP, "--dry-run")
    assert asked.returncode == 0 and "would be asked" in asked.stdout
    nobody = ctl(system, "send", "postback", "--url", "public=http://127.0.0.1:1")
    assert nobody.returncode == 69 and "does not answer" in nobody.stderr, nobody


# --- subscriptions, recoveries, gaps -------------------------------------------------------------------------------------------

def test_subscriptions_from_their_beginning_to_their_end(system):
    name = f"ctl-{uuid.uuid4().hex[:8]}"
    dry = ctl_json(system, "subscriptions", "create", name, "--type", "notification", "--app", APP, "--dry-run")
    assert dry["request"]["filter"] == {"apps": [APP]} and name not in names(system)
    assert ctl(system, "subscriptions", "create", name, "--type", "notification", "--app", APP).returncode == 0
    differs = ctl(system, "subscriptions", "create", name)
    assert differs.returncode == 4 and "SUBSCRIPTION_DIFFERS" in differs.stderr, differs
    assert name in ctl(system, "subscriptions").stdout
    sought = ctl(system, "subscriptions", "seek", name, "--to-end", "--dry-run")
    assert sought.returncode == 0 and "would be set" in sought.stdout, sought
    assert ctl_json(system, "subscriptions", "seek", name, "--to-end")["subscription"]["name"] == name
    pulled = ctl(system, "subscriptions", "enable", name)
    assert pulled.returncode == 4 and "SUBSCRIPTION_IS_PULLED" in pulled.stderr, pulled
    assert ctl(system, "subscriptions", "delete", name).returncode == 64
    assert ctl(system, "subscriptions", "delete", name, "--dry-run").returncode == 0 and name in names(system)
    assert ctl(system, "subscriptions", "delete", name, "--yes").returncode == 0 and name not in names(system)
    assert ctl(system, "subscriptions", "show", name).returncode == 3
    assert ctl(system, "subscriptions", "create", "no good name").returncode == 65


def test_recoveries_and_gaps(system):
    dry = ctl_json(system, "recover", "--bundle-id", APP, "--from", "2h", "--dry-run")
    assert dry["request"]["bundleId"] == APP and dry["request"]["startDate"] < dry["request"]["endDate"]
    done = ctl(system, "recover", "--bundle-id", APP, "--from", "2h", "--wait")
    assert done.returncode == 0 and "completed" in done.stdout, done
    id = done.stderr.split("recovery ")[1].split()[0]
    assert ctl_json(system, "recover", "show", id)["state"] == "completed"
    assert id in ctl(system, "recover", "list").stdout
    assert ctl(system, "recover", "show", "nobody").returncode == 3
    assert ctl(system, "recover", "--bundle-id", "com.example.nobody", "--from", "2h").returncode in (3, 65)
    assert ctl(system, "gaps").returncode == 64
    assert isinstance(ctl_json(system, "gaps", "--bundle-id", APP, "--state", "suspected").get("gaps", []), list)


# --- how it is called ------------------------------------------------------------------------------------------------------------

def test_profiles_flags_and_environment(system, tmp_path):
    own = {"ATTRIBUTIONCTL_PROFILES": str(tmp_path / "folder" / "profiles.yaml")}
    address = system.url("Verifier")
    assert ctl(system, "profiles", **own).stderr.startswith("There is no profile")
    done = ctl(system, "profiles", "set", "one", "--url", f"verifier={address}", "--token-file", system.data / "token", **own)
    assert done.returncode == 0, done
    assert stat.S_IMODE((tmp_path / "folder" / "profiles.yaml").stat().st_mode) == 0o600
    assert ctl(system, "queues", **own).returncode == 0
    kept = ctl(system, "profiles", "set", "two", "--url", "verifier=http://127.0.0.1:1", "--token-stdin", stdin="a-secret-token", **own)
    assert kept.returncode == 0 and "a-secret-token" not in kept.stdout + kept.stderr
    assert "a-secret-token" in (tmp_path / "folder" / "profiles.yaml").read_text()
    for words in (["list"], ["show", "--profile", "two"]):
        for output in ("table", "json", "yaml"):
            assert "a-secret-token" not in ctl(system, "profiles", *words, "-o", output, **own).stdout
    away = ctl(system, "queues", "--profile", "two", **own)
    assert away.returncode == 69 and "127.0.0.1:1" in away.stderr and "doctor" in away.stderr, away
    # The environment over the profile, flags over both.
    assert (
        ctl(system, "queues", ATTRIBUTIONCTL_PROFILE="two", ATTRIBUTIONCTL_VERIFIER_URL=address, ATTRIBUTIONCTL_TOKEN=system.token, **own).returncode
        == 0
    )
    assert ctl(system, "queues", "--url", "verifier=http://127.0.0.1:1", **own).returncode == 69
    before = (tmp_path / "folder" / "profiles.yaml").read_text()
    for word in ("use", "remove"):
        assert ctl(system, "profiles", word, "two", "--dry-run", **own).stdout.startswith("would be")
        assert (tmp_path / "folder" / "profiles.yaml").read_text() == before
    assert ctl(system, "profiles", "use", "two", **own).returncode == 0
    assert ctl(system, "queues", **own).returncode == 69
    near = ctl(system, "queues", "--profile", "tvo", **own)
    assert near.returncode == 78 and "Did you mean two?" in near.stderr, near
    assert ctl(system, "profiles", "remove", "two", **own).returncode == 0
    (tmp_path / "folder" / "profiles.yaml").chmod(0o644)
    open_file = ctl(system, "queues", **own)
    assert open_file.returncode == 78 and "others may read" in open_file.stderr and "chmod 600" in open_file.stderr, open_file


def test_each_kind_of_failure_has_its_exit_code(system, tmp_path):
    (tmp_path / "token").write_text("a token of nobody")
    (tmp_path / "token").chmod(0o600)
    (tmp_path / "open").write_text("0123456789abcdef")
    (tmp_path / "open").chmod(0o644)
    (tmp_path / "nobody").write_text("nobody-at-all")
    (tmp_path / "nobody").chmod(0o600)
    refused = ctl(system, "queues", "--token-file", tmp_path / "nobody")
    assert refused.returncode == 77 and "does not know this token" in refused.stderr, refused
    assert "nobody-at-all" not in refused.stdout + refused.stderr
    assert ctl(system, "queues", "--token-file", tmp_path / "open").returncode == 78
    assert ctl(system, "queues", "--token-file", tmp_path / "none").returncode == 78
    # Another service at the address.
    other = ctl(system, "queues", "--url", f"verifier={system.url('Signer')}")
    assert other.returncode == 70 and "does not know this method" in other.stderr, other
    assert ctl(system, "queues", "pause", "inbox").returncode == 64
    assert ctl(system, "nothing").returncode == 64
    assert ctl(system, "queues", "--url", "verifier=nowhere").returncode == 64
    assert ctl(system, "queues", ATTRIBUTIONCTL_OUTPUT="xml").returncode == 78
    assert ctl(system, "--help").returncode == 0 and ctl(system, "--version").stdout.startswith("attributionctl ")


def test_colours_and_progress_are_for_terminals(system):
    code, text = on_terminal(system, "queues")
    assert code == 0 and "\x1b[32mworking" in text, text
    assert "\x1b" not in on_terminal(system, "queues", NO_COLOR="1")[1]
    assert "\x1b" not in on_terminal(system, "queues", TERM="dumb")[1]
    assert "\x1b" not in ctl(system, "queues").stdout
    many = json.dumps(json.loads(GENUINE.read_text())) + "\n"
    path = system.data / "many.jsonl"
    path.write_text(many * 400)
    code, text = on_terminal(system, "verify", path, "--brief", "-o", "json")
    assert code == 0 and "/400 things" in text and "[#" in text, text[:300]
    done = ctl(system, "verify", path, "--brief", "-o", "json")
    assert done.stderr == "", done.stderr[:300]
    path.unlink()


# What somebody has typed, and what the shell has to offer then.
TYPED = [
    ("dead-letters re", {"replay"}), ("queues pause in", {"intake"}), ("queues list --profile lo", {"local"}), ("profiles use lo", {"local"}),
    ("dead-letters list --queue se", {"sessions"}), ("recover start --environment Sa", {"Sandbox"}), ("config check --only sig", {"signer"}),
    ("events export --format cs", {"csv"}), ("events tail --type attribution.web", set()),
]


def completed_by_bash(script: str, typed: str) -> str:
    return script + f"""
COMP_WORDS=(attributionctl {typed}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); COMP_LINE="attributionctl {typed}"; COMP_POINT=${{#COMP_LINE}}
_attributionctl attributionctl "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"; printf '%s\\n' "${{COMPREPLY[@]}}" END
"""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(system, shell, tmp_path):
    """Each shell itself is asked, with the script in its place, for what may follow what was typed."""
    script = subprocess.run([EXECUTABLE, "--generate-completion-script", shell], capture_output=True, text=True, timeout=60, check=False)
    assert script.returncode == 0 and "dead-letters" in script.stdout
    own = {**environment(system), "PATH": f"{EXECUTABLE.parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "ZDOTDIR": str(tmp_path)}
    if shell == "bash":
        for typed, offered in TYPED:
            found = subprocess.run(
                ["bash"], input=completed_by_bash(script.stdout, typed), text=True, capture_output=True, env=own, timeout=60, check=False
            )
            assert set(found.stdout.split()) - {"END"} == offered and "END" in found.stdout, (typed, found)
        return
    # The others complete at a terminal alone. Ctrl-G has them write down the line as it is.
    line = tmp_path / "line"
    if shell == "zsh":
        (tmp_path / "_attributionctl").write_text(script.stdout)
        (tmp_path / ".zshrc").write_text(
            "fpath=($ZDOTDIR $fpath); autoload -U compinit; compinit -u -D; bindkey '^I' complete-word; "
            f"tell() {{ print -r -- $BUFFER > {line}.new; mv {line}.new {line} }}; zle -N tell; bindkey '^G' tell\n")
        command = ["zsh", "-d", "-i"]
    else:
        folder = tmp_path / ".config" / "fish" / "completions"
        folder.mkdir(parents=True)
        (folder / "attributionctl.fish").write_text(script.stdout)
        command = ["fish", "--private", "-C", f"bind \\cg 'commandline > {line}.new; mv {line}.new {line}'"]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(command[0], command, {**own, "TERM": "xterm"})
    said = b""

    def line_after(keys: str) -> str:
        """The line when the keys have been worked; the terminal is read meanwhile, so that the shell can write."""
        nonlocal said
        line.unlink(missing_ok=True)
        os.write(terminal, keys.encode() + b"\x07")
        for _ in range(600):
            if line.exists():
                return line.read_text().strip()
            if select.select([terminal], [], [], 0.1)[0]:
                said += os.read(terminal, 65536)
        raise AssertionError((shell, keys, said[-1000:]))

    try:
        for typed, offered in TYPED:
            words = typed.rsplit(" ", 1)
            wanted = " ".join(["attributionctl", words[0], *(offered or {words[1]})])
            assert line_after(f"\x15attributionctl {typed}\t") == wanted, said[-1000:]
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


# --- configuration -------------------------------------------------------------------------------------------------------------

def test_a_configuration_is_checked_before_anything_starts(system, tmp_path):
    right = ctl(None, "config", "check", system.data / "configuration.yaml")
    assert right.returncode == 0 and "no mistake" in right.stdout and right.stderr == "", right
    path = tmp_path / "configuration.yaml"

    def check(text: str, *words, code: int = 78) -> list[dict]:
        path.write_text(text)
        return ctl_json(None, "config", "check", path, *words, code=code)["problems"]

    [one] = check("queues:\n  lease: 0s\n")
    assert (one["line"], one["column"], one["place"], one["level"]) == (2, 10, "queues.lease", "error")
    # All of them, of the file and of single services.
    several = check("queues:\n  lease: 0s\nadServices:\n  timeout: 50s\nappStore:\n  rootCertificates: [none.pem]\n  gapPatience: x\n")
    assert [(one["line"], one["place"].removesuffix("[0]")) for one in several] == [
        (2, "queues.lease"), (4, "adServices.timeout"), (6, "appStore.rootCertificates"), (7, "appStore.gapPatience")], several
    [one] = check("queues:\n  lease: [\n")
    assert one["line"] == 3 and "YAML" in one["reason"], one
    unknown = check("queues:\n  leese: 30s\nadNetwork: []\n", code=0)
    assert [(one["line"], one["suggestion"], one["level"]) for one in unknown] == [(2, "lease", "warning"), (3, "adNetworks", "warning")]
    check("queues:\n  leese: 30s\n", "--strict")
    # What single services refuse: signer a key that is not there, ingest a strategy, the broker a contradiction, verifier a root.
    for text, place, line in (
            ("adNetworks:\n  - id: a.skadnetwork\n    keys:\n      - { id: k, path: none.pem, state: active }\n", "adNetworks[0].keys[0]", 4),
            ("apps:\n  - bundleId: a\n    environments: [Sandbox]\n    consentRouting: { strategy: other }\n", "apps[0].consentRouting.strategy", 4),
            ("adServices:\n  timeout: 50s\n", "adServices.timeout", 2),
            ("appStore:\n  rootCertificates: [none.pem]\n", "appStore.rootCertificates", 2),
            ("recovery:\n  rates: { nothing: 1 }\n", "recovery.rates.nothing", 2)):
        found = check(text)
        assert found and all(one["line"] == line and one["place"].startswith(place) for one in found), (text, found)
    assert check("adServices:\n  timeout: 50s\n", "--only", "signer", code=0) == []
    shown = ctl(None, "config", "check", path)
    assert shown.stdout.startswith(f"{path}:2:12: error: adServices.timeout: "), shown
    assert ctl(None, "config", "check", tmp_path / "none").returncode == 66
    alone = ctl(None, "config", "check", system.data / "configuration.yaml", "--executables", tmp_path)
    assert alone.returncode == 0 and "not asked" in alone.stderr, alone
