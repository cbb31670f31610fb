"""A system that schemathesis calls by its contract, with values that exist in it, and the checks of the answers."""

import copy
import json
import os
import random
import uuid
from collections.abc import Callable
from typing import Any

import hypothesis
import jsonschema_rs
import requests
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from SystemTests.support.running_system import ROOT, System

SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
SEED = int(os.environ.get("ATTRIBUTION_SEED", "0")) or random.randrange(1 << 32)
EXAMPLES = 500 if SOAK else 4
CONTRACT = json.loads((ROOT / "Shared" / "AttributionProtocol" / "Contract" / "openapi.json").read_text())
# Without the calls that a user's own decision service answers.
CONTRACT["paths"] = {path: item for path, item in CONTRACT["paths"].items() if "RetentionDecisionService" not in path}
SCHEMAS = CONTRACT["components"]["schemas"]
CONFORMANCE = [not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance,
               response_schema_conformance]
STATUSES = {"canceled": 499, "unknown": 500, "invalid_argument": 400, "deadline_exceeded": 504, "not_found": 404, "already_exists": 409,
            "permission_denied": 403, "resource_exhausted": 429, "failed_precondition": 400, "aborted": 409, "out_of_range": 400,
            "unimplemented": 501, "internal": 500, "unavailable": 503, "data_loss": 500, "unauthenticated": 401}


def likely(story: dict, postback: dict) -> dict[str, list]:
    """Values that exist in the running system, by field name. Random text never passes the first check."""
    transaction = story["originalTransactionId"]
    return {
        "version": ["4.0", "3.0", "2.2"], "adNetworkId": ["example123.skadnetwork", "example123.adattributionkit"], "campaignId": [1, 100],
        "sourceIdentifier": [0, 39, 5239, 9999], "itunesItemId": [525463029, "525463029"], "sourceAppId": [0, 1234567891],
        "sourceDomain": ["example.com"], "fidelityType": [0, 1], "nonce": ["68483ef6-0678-41df-b8ee-a6f2db1f9d3b"],
        "timestamp": [1594406342000, "1594406342000"], "impressionType": ["app-impression"], "advertisedItemId": [525463029],
        "publisherItemId": [0, 1234567891], "bundleId": ["com.example.app"], "environment": ["Production", "Sandbox"],
        "lifetimeSeconds": [1, 3600], "productIdentifier": ["com.example.monthly"], "productId": ["com.example.monthly"],
        "offerIdentifier": ["spring"], "applicationUsername": [""], "appAccountToken": ["68483ef6-0678-41df-b8ee-a6f2db1f9d3b"],
        "requestText": ['{"a":1}'], "queue": ["intake", "tokens", "sessions", "gaps", "migrations", "reports"], "kind": ["notification"],
        "signedData": [story["signedPayload"]], "postback": [postback], "postbackText": [json.dumps(postback)],
        "originalTransactionId": [transaction], "transactionId": [transaction], "orderId": ["MLX1234567"], "maxEvents": [1, 1000],
        "waitMilliseconds": [0, 1], "leaseSeconds": [1], "maxLetters": [1, 1000], "maxRecoveries": [1, 1000],
        "maxGaps": [1, 1000], "maxMigrations": [1, 1000], "maxFailures": [1, 1000], "migrationId": ["contract"],
        "extendByDays": [1, 90], "imageIdentifier": ["68483ef6-0678-41df-b8ee-a6f2db1f9d3b"],
        "messageIdentifier": ["68483ef6-0678-41df-b8ee-a6f2db1f9d3b"], "requestReferenceId": ["68483ef6-0678-41df-b8ee-a6f2db1f9d3b"],
        "requestId": ["68483ef6-0678-41df-b8ee-a6f2db1f9d3b"], "locale": ["en-US"], "realtimeUrl": ["https://example.com/"],
        "imageSize": ["FULL_SIZE"], "maxCalls": [1, 1000], "maxReports": [1, 1000],
        "message": [{"header": "Stay", "body": "Please"}],
        "extendReasonCode": [0, 1], "requestIdentifier": ["68483ef6-0678-41df-b8ee-a6f2db1f9d3b"], "attStatus": [0, 3, -1],
        "installId": ["install-1"], "startDate": ["2026-01-01T00:00:00Z", 1700000000000], "endDate": ["2026-01-02T00:00:00Z", 1700000100000],
        "start": ["now", "beginning"], "signedPayload": [story["signedPayload"]], "attConsentWaitingInterval": [0, 5],
        "appAppleId": [525463029], "sort": ["ASCENDING"], "deferred": [True, False], "subscription": ["contract"], "name": ["contract"],
        "ids": [[f"017-{'a' * 32}"]], "reason": ["bad_signature", "malformed"], "maxDeliveries": [1, 1000],
    }


def contract_with_values(values: dict[str, list]) -> dict:
    """A copy of the contract in which fields of requests allow only these values."""
    contract = copy.deepcopy(CONTRACT)

    def with_likely_values(schema: dict) -> None:
        properties = schema.get("properties", {})
        for name, found in values.items():
            if name in properties:
                fitting = [value for value in found if fits(value, properties[name])]
                if fitting:
                    properties[name] = {"enum": fitting}

    for name, schema in contract["components"]["schemas"].items():
        if name.endswith("Request"):  # answers may have other values
            with_likely_values(schema)
    for path, item in contract["paths"].items():
        if path.startswith(("/v1/", "/.well-known/")):
            for operation in item.values():
                for content in operation["requestBody"]["content"].values():
                    with_likely_values(content["schema"])
                for parameter in operation.get("parameters", []):
                    if parameter["in"] == "path" and parameter["name"] in values:
                        parameter["schema"] = {"enum": values[parameter["name"]]}
    return contract


def fits(value: object, schema: dict) -> bool:
    return jsonschema_rs.is_valid({"components": CONTRACT["components"], **schema}, value)


def without_security(contract: dict) -> dict:
    """The contract without its security schemes: the tests send a valid token themselves."""
    contract = copy.deepcopy(contract)
    for item in contract["paths"].values():
        for operation in item.values():
            operation.pop("security", None)
    return contract


class Subject:
    """A system, and the operations of the contract with which schemathesis calls it: `plain` has any values of the right types, `likely`
    values that exist in the system. It needs a system of its own, because the calls pause queues and empty them."""

    def __init__(self, system: System) -> None:
        self.system, self.session = system, requests.Session()
        story = system.control("/control/notifications/story", {
            "bundleId": "com.example.app", "environment": "Production", "steps": ["buy", "renew"], "send": True})["notifications"][0]
        postback = json.loads(system.control("/control/skadnetwork/postbacks", {"version": "4.0", "send": False})["body"])
        system.call("Events", "CreateSubscription", {"name": "contract"})
        self.plain = self.operations(CONTRACT)
        self.likely = self.operations(contract_with_values(likely(story, postback)))

    @staticmethod
    def operations(contract: dict) -> dict:
        loaded = schemathesis.openapi.from_dict(without_security(contract))
        found = [result.ok() for result in loaded.get_all_operations()]
        return {(operation.method, operation.path): operation for operation in found}

    def base(self, operation: dict) -> str:
        tag = operation["tags"][0]
        return self.system.public if tag == "public" else self.system.url(tag)

    def headers(self, operation: dict) -> dict[str, str]:
        headers: dict[str, str] = {}
        if operation["tags"][0] != "public":
            headers["Authorization"] = f"Bearer {self.system.token}"
            # A call that waits for one of Apple's limits is refused before the client gives up.
            headers["Connect-Timeout-Ms"] = "8000"
        if operation.get("x-idempotency") == "keyed":
            headers["Idempotency-Key"] = uuid.uuid4().hex
        return headers

    def run(self, operation: Any, mode: GenerationMode, check: Callable[[Any, Any], None]) -> None:
        """Sends generated requests to an operation and checks each answer."""
        raw = operation.definition.raw

        @hypothesis.seed(SEED)
        @hypothesis.settings(max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
                             suppress_health_check=list(HealthCheck), print_blob=False)
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        def each(case: Any) -> None:
            response = case.call(base_url=self.base(raw), session=self.session, headers=self.headers(raw))
            for _ in range(3):  # Apple may be unreachable for a moment; then the answer is to retry
                if response.status_code != 503 or "APP_STORE_UNAVAILABLE" not in response.text:
                    break
                conforms_as_retryable(response)
                response = case.call(base_url=self.base(raw), session=self.session, headers=self.headers(raw))
            check(case, response)

        try:
            each()
        except BaseException as error:
            error.add_note(f"ATTRIBUTION_SEED={SEED}")
            raise


def conforms_as_retryable(response: Any) -> None:
    assert response.json()["code"] == "unavailable" and int(response.headers["retry-after"][0]) >= 1
