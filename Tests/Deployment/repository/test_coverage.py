"""Documentation/coverage.py reports Apple's names that are missing in the code, removed ones and new ones."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CONTRACT = "Shared/AttributionProtocol/Contract"
LIST = "Documentation/apple-coverage.yaml"
PAYLOADS = f"{CONTRACT}/attribution/events/v1/payloads.proto"
RECOVERY = f"{CONTRACT}/attribution/recovery/v1/recovery.proto"
ENDPOINTS = "Shared/AppStore/ServerAPI/Client/AppStoreServerEndpoint.swift"
FILTERS = "Shared/AppStore/Notifications/NotificationFilterRule.swift"


def check(root: Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, root / "Documentation/coverage.py", "--check"], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The parts of the repository that the script reads."""
    for folder in (CONTRACT, "Shared/AppStore", "Shared/AppleAttribution", "Shared/ServiceRuntime", "Services"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "Documentation").mkdir()
    for name in ("coverage.py", "coverage_sources.py", "apple-coverage.yaml", "apple-coverage.md"):
        shutil.copy(ROOT / "Documentation" / name, tmp_path / "Documentation" / name)
    return tmp_path


def change(root: Path, file: str, pattern: str, by: str) -> None:
    text, count = re.subn(pattern, by, (root / file).read_text(), count=1)
    assert count == 1, f"{pattern} is not in {file}"
    (root / file).write_text(text)


def test_the_page_matches_the_code() -> None:
    assert check(ROOT) == (0, "")


@pytest.mark.parametrize("file, pattern, by, missing", [
    # Removed from the code.
    (PAYLOADS, r"  optional string revocation_type = 17;\n", "", "JWSTransactionDecodedPayload.revocationType"),
    (PAYLOADS, r"  optional string sku = 1 \[json_name",
     "  optional string sku = 1 [deprecated = true, json_name_of_old", "advancedCommerceTransactionItem.SKU"),
    (PAYLOADS, r"// JWSAppTransactionDecodedPayload: ", "// ", "JWSAppTransactionDecodedPayload.storeType"),
    (PAYLOADS, r"REFUND_PRORATED, ", "", "JWSTransactionDecodedPayload.revocationType"),
    (ENDPOINTS, r'"/inApps/v1/lookup"', '"/inApps/v9/lookup"', "Look Up Order ID"),
    (ENDPOINTS, r"\.finishTransaction, \.extendRenewalDatesForAll, ", ".finishTransaction, ",
     "Extend Subscription Renewal Dates for All Active Subscribers"),
    ("Services/NotificationRecovery/Handlers/LookUps/GetRefundHistoryHandler.swift",
     r"typealias Method = NotificationRecoveryService\.GetRefundHistory", "", "Get Refund History"),
    (FILTERS, r'"ACTIVE_TOKEN_REMINDER", ', "", "EXTERNAL_PURCHASE_TOKEN ACTIVE_TOKEN_REMINDER"),
    (FILTERS, r'"RESCIND_CONSENT": Subtypes\(\),', "", "RESCIND_CONSENT –"),
    ("Shared/AppleAttribution/AdAttributionKit/AdAttributionKitPostback.swift",
     r"(?s)^.*$", "", "AdAttributionKit postback's JWS.marketplace-identifier"),
    ("Shared/AppleAttribution/AdServices/AttributionRecord.swift", r"(?s)supplyPlacement(.*)", "", "AdServices attribution record.supplyPlacement"),
    (f"{CONTRACT}/openapi.json", r"/\.well-known/skadnetwork/get-signed-payload", "/elsewhere", "Get a Signed Web Ad Impression Payload"),
    ("Shared/AppStore/ServerAPI/Requests/ConsumptionInformation.swift", r'(?s)"consumptionPercentage"(.*)', "",
     "ConsumptionRequest.consumptionPercentage"),
    ("Shared/AppStore/ServerAPI/Requests/ConsumptionInformation.swift", r'"UNDELIVERED_SERVER_OUTAGE", ', "", "ConsumptionRequest.deliveryStatus"),
    ("Shared/AppStore/ServerAPI/Requests/ConsumptionInformation.swift", r'\("userStatus", 4\)', '("userStatus", 3)',
     "ConsumptionRequestV1.userStatus"),
    ("Shared/AppStore/ServerAPI/Requests/RenewalDateExtension.swift", r"\(0\.\.\.3\)", "(0...2)", "ExtendRenewalDateRequest.extendReasonCode"),
    (RECOVERY, r"(?s)(message GetRefundHistoryResponse \{\n  // )Apple's answer, unchanged\.", r"\1A part of Apple's answer.",
     "RefundHistoryResponse.hasMore"),
    (f"{CONTRACT}/attribution/signer/v1/signer.proto", r" Exactly these bytes are signed\.", "", "SubscriptionModifyInAppRequest.periodChange"),
    (f"{CONTRACT}/attribution/retention/v1/retention.proto", r"PENDING, APPROVED or REJECTED;", "PENDING or APPROVED;", "imageState"),
    ("Shared/AppStore/Recovery/SendAttemptDiagnosis.swift", r'(?s)"CIRCULAR_REDIRECT"(.*)', "", "firstSendAttemptResult"),
    # Added by Apple.
    (LIST, r"\[header, body, image\]", "[header, body, image, brandNew]", "UploadMessageRequestBody.brandNew"),
    (LIST, r"sort: \[ASCENDING", "sort: [SIDEWAYS, ASCENDING", "Query parameters.sort"),
    (LIST, r"\[billingPlanType, commitmentInfo\]", "[billingPlanType, commitmentInfo, brandNew]", "JWSTransactionDecodedPayload.brandNew"),
    (LIST, r"subtypes: \[BILLING_RECOVERY\]", "subtypes: [BILLING_RECOVERY, BRAND_NEW]", "DID_RENEW BRAND_NEW"),
    (LIST, r"originalPlatform: \[iOS", "originalPlatform: [carOS, iOS", "JWSAppTransactionDecodedPayload.originalPlatform"),
    (LIST, r'      - \{name: Look Up Order ID',
     '      - {name: Brand New, call: "GET /inApps/v3/new", since: "2.0"}\n      - {name: Look Up Order ID',
     "Brand New"),
])
def test_a_missing_name_of_apple_is_reported(copy: Path, file: str, pattern: str, by: str, missing: str) -> None:
    change(copy, file, pattern, by)
    code, output = check(copy)
    assert code != 0 and f"{missing}: Apple documents it, and it is nowhere in the code" in output, output


def test_a_missing_name_with_a_reason_is_accepted_and_the_page_shows_the_reason(copy: Path) -> None:
    change(copy, LIST, r'      - \{name: Look Up Order ID',
           '      - {name: Brand New, call: "GET /inApps/v3/new", since: "2.0", without: nobody needs it}\n      - {name: Look Up Order ID')
    code, output = check(copy)
    assert code != 0 and "run Documentation/coverage.py" in output and "nowhere" not in output
    subprocess.run([sys.executable, copy / "Documentation/coverage.py"], check=True, timeout=60)
    assert check(copy) == (0, "")
    assert "| Brand New (`GET /inApps/v3/new`) | 2.0 | no: nobody needs it |" in (copy / "Documentation/apple-coverage.md").read_text()


def test_a_reason_for_an_existing_name_is_reported(copy: Path) -> None:
    change(copy, LIST, r'(\{name: Look Up Order ID.*?)\}\n', r"\1, without: was not built}\n")
    code, output = check(copy)
    assert code != 0 and "Look Up Order ID: it is in the code, and has a reason for not being there" in output
