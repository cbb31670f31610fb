"""attributionctl retention, advanced-commerce and external-purchase, as an operator uses them."""

import json

from SystemTests.apple_calls.steps import APP, calls, new_id, png, story

from .command import ctl, ctl_json

COMMERCE = {"taxCode": "C003-00-1", "items": [{"SKU": "A", "displayName": "A", "description": "A", "price": 9990}], "period": "P1M"}
SANDBOX = ("--bundle-id", APP, "--environment", "Sandbox")


def test_images_messages_defaults_and_the_url_of_retention_messaging_are_set_shown_and_deleted(system, tmp_path):
    image, message = new_id(), new_id()
    (tmp_path / "coast.png").write_bytes(png(3840, 200))
    (tmp_path / "message.json").write_text(
        json.dumps({"header": "Stay", "body": "Please", "image": {"imageIdentifier": image, "altText": "A coast"}})
    )
    upload = ("retention", "images", "upload", tmp_path / "coast.png", "--id", image, *SANDBOX)
    before = len(calls(system, f"/messaging/image/{image}"))
    dry = ctl_json(system, *upload, "--dry-run")
    assert dry["dryRun"] is True and dry["request"]["imageIdentifier"] == image and len(calls(system, f"/messaging/image/{image}")) == before
    assert ctl(system, *upload).returncode == 0
    again = ctl(system, *upload)
    assert again.returncode == 4 and "APP_STORE_REFUSED" in again.stderr, again
    (tmp_path / "large.png").write_bytes(bytes(12 << 20))
    large = ctl(system, "retention", "images", "upload", tmp_path / "large.png", "--id", image, *SANDBOX)
    assert large.returncode == 65 and "large.png" in large.stderr, large
    assert ctl(system, "retention", "messages", "upload", tmp_path / "message.json", "--id", message, *SANDBOX).returncode == 0
    assert {message} <= {one["messageIdentifier"] for one in ctl_json(system, "retention", "messages", "list", *SANDBOX)["messages"]}
    shown = ctl(system, "retention", "images", "list", *SANDBOX).stdout
    assert f"{image}  APPROVED  FULL_SIZE" in shown, shown
    product = ("--product", f"{APP}.yearly", "--locale", "fr-FR", *SANDBOX)
    assert ctl(system, "retention", "default", "show", *product).returncode == 3
    assert ctl(system, "retention", "default", "set", message, *product).returncode == 0
    assert ctl_json(system, "retention", "default", "show", *product)["messageIdentifier"] == message
    assert ctl(system, "retention", "default", "delete", *product).returncode == 0
    url = "https://ads.example.com/v1/app-store/retention/com.example.app"
    assert ctl(system, "retention", "url", "set", "http://ads.example.com/", *SANDBOX).returncode == 65
    assert ctl(system, "retention", "url", "set", url, *SANDBOX).returncode == 0
    assert url in ctl(system, "retention", "url", "show", *SANDBOX).stdout
    purchase = story(system, "buy", environment="Sandbox")["originalTransactionId"]
    test = ctl_json(system, "retention", "performance-test", "start", "--bundle-id", APP, "--original-transaction-id", purchase)["requestId"]
    assert ctl_json(system, "retention", "performance-test", "show", test, "--bundle-id", APP)["result"] == "PENDING"
    for result, code in (("FAIL", 1), ("PASS", 0)):
        system.control("/control/retention", {"requestId": test, "result": result})
        done = ctl(system, "retention", "performance-test", "show", test, "--bundle-id", APP, "--wait")
        assert done.returncode == code and result in done.stdout, done
    # Commands that cannot be undone ask for confirmation, and there is no terminal for the answer.
    for words in (("url", "delete"), ("images", "delete", image), ("messages", "delete", message)):
        assert ctl(system, "retention", *words, *SANDBOX).returncode == 64
    assert ctl(system, "retention", "messages", "delete", message, *SANDBOX, "--yes").returncode == 0
    assert ctl(system, "retention", "images", "delete", image, *SANDBOX, "--yes").returncode == 0
    assert ctl(system, "retention", "url", "delete", *SANDBOX, "--yes").returncode == 0


def test_an_advanced_commerce_call_is_made_once_and_shown(system, tmp_path):
    transaction = story(system, "buy", advancedCommerce=COMMERCE)["originalTransactionId"]
    reference, file = new_id(), tmp_path / "cancel.json"
    file.write_text(json.dumps({"requestInfo": {"requestReferenceId": reference}, "storefront": "USA"}))
    words = ("advanced-commerce", "cancel", transaction, file, "--bundle-id", APP, "--environment", "Production")
    assert ctl(system, *words).returncode == 64
    assert ctl_json(system, *words, "--dry-run")["request"]["transactionId"] == transaction and not calls(system, f"/cancel/{transaction}")
    first, second = ctl(system, *words, "--yes"), ctl(system, *words, "--yes")
    assert "now" in first.stdout and "earlier; not sent again" in second.stdout, (first, second)
    assert len(calls(system, f"/cancel/{transaction}")) == 1
    assert ctl_json(system, "advanced-commerce", "show", reference, "--bundle-id", APP)["call"]["state"] == "answered"
    assert reference in ctl(system, "advanced-commerce", "list", "--bundle-id", APP).stdout
    assert ctl(system, "advanced-commerce", "show", new_id(), "--bundle-id", APP).returncode == 3
    file.write_text("[]")
    assert ctl(system, *words, "--yes").returncode == 65


def test_an_external_purchase_report_is_sent_and_shown_and_apples_refusal_names_line_and_field(system, tmp_path):
    report, file = new_id(), tmp_path / "report.json"
    file.write_text(json.dumps({"requestIdentifier": report, "externalPurchaseId": f"SANDBOX_{new_id()}", "status": "NO_LINE_ITEM"}))
    words = ("external-purchase", "send", file, "--bundle-id", APP)
    assert ctl_json(system, *words, "--dry-run")["dryRun"] is True
    sent = ctl(system, *words, "--wait", "20")
    assert sent.returncode == 0 and "accepted" in sent.stdout, sent
    assert ctl_json(system, "external-purchase", "show", report, *SANDBOX)["report"]["attempts"] == 1
    assert ctl_json(system, "external-purchase", "retrieve", report, *SANDBOX)["response"]["report"]["status"] == "NO_LINE_ITEM"
    assert report in ctl(system, "external-purchase", "list", "--state", "accepted", "--bundle-id", APP).stdout
    line = {"lineItemId": "r", "creationDate": 1706047491127, "eventType": "REFUND", "amountTaxInclusive": 0, "amountTaxExclusive": 0, "taxAmount": 0,
            "netAmountTaxExclusive": 0, "reportingCurrency": "EUR", "pricingCurrency": "EUR", "taxCountry": "ESP", "referenceLineItemId": "nobody's"}
    refused = ctl(system, "external-purchase", "send", "-", "--bundle-id", APP, "--wait", "20", stdin=json.dumps(
        {"requestIdentifier": new_id(), "externalPurchaseId": new_id(), "status": "LINE_ITEM", "lineItems": [line]}))
    assert refused.returncode == 1 and "line r, referenceLineItemId" in refused.stdout, refused
