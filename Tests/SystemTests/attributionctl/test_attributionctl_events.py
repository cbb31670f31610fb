"""attributionctl sends deliveries, shows their history, follows and exports events, and manages subscriptions."""

import csv
import io
import json
import signal
import stat
import subprocess
import time
import uuid

from .command import EXECUTABLE, ctl, ctl_json, environment, lines, started, written
from .steps import APP, forged, names

REJECTED = "attribution.skadnetwork.postback.rejected.v1"


def received(system, count: int) -> list[str]:
    """Rejected deliveries, each with an event on the feed; returns their ids."""
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


def test_a_delivery_is_sent_and_its_history_shows_its_readers(system):
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


def test_events_are_followed_and_the_subscription_is_deleted_at_the_end(system):
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
    # The reader closes its end: this is no error, and no file is left.
    tail = started(system, "events", "tail", "--since", "1h", "-o", "json")
    tail.stdout.readline()
    tail.stdout.close()
    received(system, 1)
    assert tail.wait(30) == 0
    assert not any(one.startswith("attributionctl-tail-") for one in names(system))
    wrong = ctl(system, "events", "tail", "--type", "notificaton")
    assert wrong.returncode == 64 and "Did you mean notification?" in wrong.stderr, wrong


def test_an_export_contains_each_event_once_and_can_be_resumed(system, tmp_path):
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
    # The order is that of publication, which is shortly after an event's own time.
    assert times[0] <= times[-1]
    again = ctl(system, "events", "export", *words, "--file", whole)
    assert again.returncode == 0 and "already complete" in again.stdout and written(whole) == events

    # The state after a command that was killed while it wrote a page: whole pages, and a part of one.
    state = json.loads((tmp_path / "whole.jsonl.export.json").read_text())
    question = {"types": state["request"]["types"], "startTime": state["start"], "endTime": state["end"], "maxEvents": 7}
    page = system.call("Events", "ListEvents", question)
    while not page.get("events"):  # a page with only events of other types is empty
        page = system.call("Events", "ListEvents", {**question, "pageToken": page["nextPageToken"]})
    first = b"".join(json.dumps(event).encode() + b"\n" for event in page["events"])
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(first + b'{"specversion":"1.0","id":')
    (tmp_path / "cut.jsonl.export.json").write_text(json.dumps(
        {**state, "pageToken": page["nextPageToken"], "bytes": len(first), "events": len(page["events"]), "complete": False}))
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


def test_an_export_can_be_resumed_wherever_it_was_killed(system, tmp_path):
    """Killed repeatedly, before its first page and within later ones: at the end each event is there once, in the order of a whole
    export."""
    received(system, 30)
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    words = ["events", "export", "--from", "1h", "--to", until, "--type", "skadnetwork"]
    cut, whole = tmp_path / "cut.jsonl", tmp_path / "whole.jsonl"
    # Stopped as soon as it has written any file; the next run must be able to continue from it.
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
    # It reports the time up to which it is complete by the services' clock, not by an end in the future.
    state = json.loads((tmp_path / "cut.jsonl.export.json").read_text())
    assert state["complete"] and state["end"] < until


def test_a_reader_that_closes_its_end_is_no_error_and_an_unwritable_output_has_an_exit_code(system, tmp_path):
    """A reader that closes its end is no error, and messages are not written into a file that got the number of a closed stream."""
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


def test_subscriptions_are_created_moved_and_deleted(system):
    name = f"ctl-{uuid.uuid4().hex[:8]}"
    dry = ctl_json(system, "subscriptions", "create", name, "--type", "notification", "--app", APP, "--dry-run")
    assert dry["request"]["filter"] == {"apps": [APP]} and name not in names(system)
    assert ctl(system, "subscriptions", "create", name, "--type", "notification", "--app", APP).returncode == 0
    differs = ctl(system, "subscriptions", "create", name)
    assert differs.returncode == 4 and "SUBSCRIPTION_DIFFERS" in differs.stderr, differs
    assert name in ctl(system, "subscriptions").stdout
    sought = ctl(system, "subscriptions", "seek", name, "--to-end", "--dry-run")
    assert sought.returncode == 0 and "would be moved" in sought.stdout, sought
    assert ctl_json(system, "subscriptions", "seek", name, "--to-end")["subscription"]["name"] == name
    pulled = ctl(system, "subscriptions", "enable", name)
    assert pulled.returncode == 4 and "SUBSCRIPTION_IS_PULLED" in pulled.stderr, pulled
    assert ctl(system, "subscriptions", "delete", name).returncode == 64
    assert ctl(system, "subscriptions", "delete", name, "--dry-run").returncode == 0 and name in names(system)
    assert ctl(system, "subscriptions", "delete", name, "--yes").returncode == 0 and name not in names(system)
    assert ctl(system, "subscriptions", "show", name).returncode == 3
    assert ctl(system, "subscriptions", "create", "no good name").returncode == 65
