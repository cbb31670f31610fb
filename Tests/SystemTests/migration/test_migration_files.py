"""Files of receipts that the command line migrates."""

import base64
import json
import signal
import time
import uuid

from SystemTests.attributionctl.command import ctl, started
from SystemTests.support.short_lease import short_lease

from .receipts import APP, STATUS, TRANSACTION, app_receipt, counts, migrated, response, story


def command(path, *options: str) -> list:
    return ["migrate", path, "--bundle-id", APP, *options]


def test_a_file_is_migrated_although_the_command_and_the_service_are_killed(system, tmp_path):
    feed = system.subscribe([TRANSACTION, STATUS])
    people = [story(system, "buy", "renew")["originalTransactionId"] for _ in range(24)]
    lines = []
    for number, one in enumerate(people):
        lines.append(app_receipt([one]) if number % 4 == 0 else json.dumps(
            [{"id": f"r{number}", "appReceipt": app_receipt([one])}, response([one]), {"id": f"r{number}", "verifyReceiptResponse": response([one])}]
            [number % 3]))
    lines[10:10] = ["", "not a receipt", json.dumps({"id": "lost", "verifyReceiptResponse": response(["888888888888888"])})]
    lines += lines[:5]
    path = tmp_path / "receipts.jsonl"
    path.write_text("\n".join(lines) + "\n")
    # A tenth of Apple's answers fail.
    system.control("/control/faults", {"route": "appStoreServer", "percentage": 10, "seed": 11, "status": 500, "body": {"errorCode": 5000000}})
    with short_lease(system, "notification-recovery"):
        first = started(system, *command(path, "--batch", "3"))
        state = tmp_path / "receipts.jsonl.migration.json"
        while not (state.exists() and json.loads(state.read_text())["lines"] >= 9):
            assert first.poll() is None
            time.sleep(0.01)
        first.send_signal(signal.SIGKILL)
        first.wait()
        system.service("kill", "notification-recovery")
        system.service("start", "notification-recovery")
        # The file keeps its original batch size, so that a batch that is sent again is counted once.
        done = ctl(system, *command(path, "--batch", "7"))
    system.control("/control/faults", {"clear": True})
    assert done.returncode == 1, done
    table = counts(done.stdout)
    assert "resumed at line" in done.stderr and (table["receipts"], table["migrated"], table["same purchases as another"]) == ("31", "24", "5"), done
    failures = [json.loads(line) for line in (tmp_path / "receipts.jsonl.failures.jsonl").read_text().splitlines()]
    assert sorted((one["id"], one["reason"]) for one in failures) == [("line 12", "malformed-receipt"), ("lost", "no-transaction")], failures
    events = migrated(feed, 72, seconds=40)
    assert len(events) == 72 and len({event["id"] for event in events}) == 72
    # The same command again has nothing to do.
    again = ctl(system, *command(path, "--batch", "3"))
    assert again.returncode == 1 and counts(again.stdout)["migrated"] == "24", again
    assert migrated(feed, 0) == []
    feed.delete()


def test_a_bad_line_does_not_stop_the_others(system, tmp_path):
    original = story(system, "buy")["originalTransactionId"]
    good = {"appReceipt": app_receipt([original])}
    lines = [
        json.dumps({"id": "é" * 200, **good}, ensure_ascii=False), r'{"id":"\ud800","appReceipt":"AAAA"}', '{"a":' * 200_000,
        json.dumps({"id": "lone", "verifyReceiptResponse": {"receipt": {"in_app": [{"original_transaction_id": "\ud800"}]}}}),
        json.dumps({"id": "error", "verifyReceiptResponse": {"status": 21003}}), '{"status":21002}',
        json.dumps({"status": 0, "receipt": {"bid": APP, "original_transaction_id": int(original)}})]
    path = tmp_path / "receipts.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    dry_run = ctl(system, *command(path, "--dry-run"))
    assert dry_run.returncode == 0 and not (tmp_path / "receipts.jsonl.migration.json").exists(), dry_run
    done = ctl(system, *command(path))
    table = counts(done.stdout)
    assert done.returncode == 1 and (table["receipts"], table["migrated"], table["same purchases as another"]) == ("7", "1", "1"), done
    failures = [json.loads(line) for line in (tmp_path / "receipts.jsonl.failures.jsonl").read_text().splitlines()]
    assert sorted((one["id"], one["reason"], one.get("errorCode")) for one in failures) == [
        ("error", "refused", 21003), ("line 2", "malformed-receipt", None), ("line 3", "malformed-receipt", None),
        ("line 4", "malformed-receipt", None), ("line 6", "refused", 21002)], failures


def test_every_line_is_migrated_whatever_form_it_has_and_one_line_never_ends_another(system, tmp_path):
    people = [story(system, "buy") for _ in range(8)]
    ids = [one["originalTransactionId"] for one in people]
    payloads = [one["notifications"][0]["signedPayload"] for one in people]
    receipt = app_receipt([ids[2]])
    lines = [
        payloads[0], json.dumps({"signedPayload": payloads[1]}), base64.b64encode(receipt.encode()).decode(),
        json.dumps({"receipt-data": app_receipt([ids[3]]), "password": "x"}),
        json.dumps({"id": "text", "verifyReceiptResponse": json.dumps(response([ids[4]]))}),
        json.dumps({"id": "signed", "appReceipt": payloads[5]}), f"'{app_receipt([ids[6]])}'",
        json.dumps({"id": "mixed", "verifyReceiptResponse": response(["0", ids[7], "888888888888888"])}), app_receipt(["0"]), "a.b.c"]
    path = tmp_path / "receipts.jsonl"
    path.write_text("\n".join(lines) + "\n")
    done = ctl(system, *command(path, "--environment", "Production"))
    table = counts(done.stdout)
    assert done.returncode == 1 and (table["receipts"], table["migrated"], table["failed"]) == ("10", "8", "2"), done
    assert table["unused ids of migrated receipts"] == "2", done
    failures = [json.loads(line) for line in (tmp_path / "receipts.jsonl.failures.jsonl").read_text().splitlines()]
    assert sorted((one["id"], one["reason"], one.get("transactionIds", [])) for one in failures) == [
        ("line 10", "malformed-receipt", []), ("line 9", "xcode-receipt", []), ("mixed", "no-transaction", ["888888888888888"]),
        ("mixed", "xcode-receipt", ["0"])], failures


def test_a_file_without_a_receipt_is_accepted(system, tmp_path):
    for text in ("", "\n\n  \n"):
        path = tmp_path / f"blank{len(text)}.jsonl"
        path.write_text(text)
        done = ctl(system, *command(path))
        assert done.returncode == 0 and "no receipt" in done.stderr, done


def test_cancelling_a_migration_stops_its_file(system, tmp_path):
    people = [story(system, "buy")["originalTransactionId"] for _ in range(40)]
    path = tmp_path / "receipts.jsonl"
    path.write_text("\n".join(json.dumps({"id": one, "verifyReceiptResponse": response([one])}) for one in people) + "\n")
    name = f"stop-{uuid.uuid4().hex[:8]}"
    system.control("/control/faults", {"route": "appStoreServer", "percentage": 100, "delayMilliseconds": 3000})
    try:
        working = started(system, *command(path, "--migration", name))
        while "all receipts are sent" not in working.stderr.readline():
            assert working.poll() is None
        dry = ctl(system, "migrate", "cancel", name, "--dry-run")
        assert dry.returncode == 0 and "would not be sent to Apple" in dry.stdout, dry
        done = ctl(system, "migrate", "cancel", name)
        assert done.returncode == 0 and counts(done.stdout)["state"] == "cancelled" and counts(done.stdout)["receipts"] == "40", done
        assert working.wait(60) == 1 and counts(working.stdout.read())["state"] == "cancelled"
    finally:
        system.control("/control/faults", {"clear": True})
    again = ctl(system, *command(path))
    assert again.returncode == 1 and counts(again.stdout)["state"] == "cancelled", again
    # Additional receipts in the file are not accepted.
    with path.open("a") as file:
        file.write(json.dumps({"id": "more", "verifyReceiptResponse": response([people[0]])}) + "\n")
    refused = ctl(system, *command(path))
    assert refused.returncode == 4 and "was cancelled" in refused.stderr, refused
    assert name in ctl(system, "migrate", "list").stdout and ctl(system, "migrate", "show", name).returncode == 0
    unknown = ctl(system, "migrate", "cancel", "nobody")
    assert unknown.returncode == 3 and "no such migration" in unknown.stderr, unknown


def test_wrong_options_and_an_absent_file_have_their_exit_codes(system, tmp_path):
    path = tmp_path / "receipts.jsonl"
    path.write_text("AAAA\n")
    for options, code in ((["--token-file", str(tmp_path / "none")], 78), (["--url", "foo"], 64), (["--batch", "0"], 64)):
        done = ctl(system, *command(path, *options))
        assert done.returncode == code, done
    assert ctl(system, *command(tmp_path / "none")).returncode == 66
