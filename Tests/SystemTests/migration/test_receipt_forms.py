"""Everything that senders deliver in place of a receipt: signed data, and texts that were changed on the way."""

import base64
import json
import urllib.parse

import pytest

from .receipts import APP, app_receipt, completed, migrate, outcome, story, transaction_receipt, unsigned_jws


def test_signed_data_in_place_of_a_receipt_is_looked_up_by_its_ids(system):
    purchase = story(system, "buy", "renew")
    original, account = purchase["originalTransactionId"], purchase["appTransactionId"]
    notification = purchase["notifications"][1]
    found = system.call("Recovery", "GetTransactionHistory", {"bundleId": APP, "transactionId": original})["response"]
    signed_app = system.call("Recovery", "GetAppTransactionInfo", {"bundleId": APP, "transactionId": original})["response"]
    statuses = system.call("Recovery", "GetSubscriptionStatuses", {"bundleId": APP, "transactionId": original})["response"]
    status = statuses["data"][0]["lastTransactions"][0]
    texts = {"transaction": found["signedTransactions"][1], "renewal": status["signedRenewalInfo"], "notification": notification["signedPayload"],
             "body": json.dumps({"signedPayload": notification["signedPayload"]}), "history": json.dumps(found),
             "app": signed_app["signedAppTransactionInfo"]}
    for field in ("appReceipt", "transactionReceipt"):
        for name, text in texts.items():
            answer = migrate(system, [{"id": name, field: text}], environment="Production")
            result, = answer["results"]
            ids = result.get("transactionIds", []) if name == "app" else result.get("originalTransactionIds", [])
            assert result["state"] == "queued" and ids == ([account] if name == "app" else [original]), result
            done = completed(system, answer["migrationId"])
            assert (done["migrated"], done["transactions"], done["subscriptions"]) == (1, 2, 1), (name, done)
            extracted = system.call("Verifier", "ExtractTransactionIds", {field: text})
            assert (extracted["transactionIds"] if name == "app" else extracted["originalTransactionIds"]) == ids, (name, extracted)
    stranger = unsigned_jws({"transactionId": "3", "originalTransactionId": "3", "bundleId": "com.example.other", "environment": "Production"})
    assert [one["reason"] for one in outcome(system, [{"appReceipt": stranger}])[1]] == ["wrong-app"]


@pytest.mark.parametrize("change", [
    lambda text: base64.b64encode(text.encode()).decode(), lambda text: text.replace("+", " "),
    lambda text: text.replace("+", "-").replace("/", "_").rstrip("="), lambda text: text.rstrip("="),
    lambda text: "\r\n".join(text[start:start + 64] for start in range(0, len(text), 64)), lambda text: f'"{text}"',
    lambda text: urllib.parse.quote(text, safe=""),
], ids=["encoded twice", "blanks", "url alphabet", "no padding", "lines", "quotes", "escaped"])
def test_a_receipt_is_read_although_its_text_was_changed_on_the_way(system, change):
    original = story(system, "buy")["originalTransactionId"]
    texts = {"appReceipt": app_receipt([original], more=b"\xfb\xef\xbe\xff" * 3), "transactionReceipt": transaction_receipt(original)}
    # Versions of the app are among the attributes that receipts have; this one has characters that the alphabets do not share.
    assert "+" in texts["appReceipt"] and "/" in texts["appReceipt"]
    for field, text in texts.items():
        extracted = system.call("Verifier", "ExtractTransactionIds", {field: change(text)})
        assert original in extracted.get("originalTransactionIds", []) + extracted.get("transactionIds", []), extracted
        counts, failures = outcome(system, [{"id": field, field: change(text)}])
        assert counts["migrated"] == 1 and not failures, (field, counts, failures)
