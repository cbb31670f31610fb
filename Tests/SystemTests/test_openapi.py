"""The running services held against their contract, openapi.json, by requests that schemathesis makes from it.

Which requests come is decided by a seed, which a failure names: ATTRIBUTION_SEED=… makes the same ones again.
"""

import base64
import copy
import gzip
import json
import os
import random
import re
import uuid

import hypothesis
import jsonschema_rs
import pytest
import requests
import schemathesis
from conftest import ROOT, start_system, stop_system
from hypothesis import HealthCheck, Phase
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
SEED = int(os.environ.get("ATTRIBUTION_SEED", "0")) or random.randrange(1 << 32)
EXAMPLES = 500 if SOAK else 8

CONTRACT = json.loads((ROOT / "Shared" / "AttributionProtocol" / "Contract" / "openapi.json").read_text())
# None of the five services answers these: a server of the user's does.
CONTRACT["paths"] = {path: item for path, item in CONTRACT["paths"].items() if "RetentionDecisionService" not in path}
SCHEMAS = CONTRACT["components"]["schemas"]
CONFORMANCE = [not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance,
               response_schema_conformance]

STATUSES = {"canceled": 499, "unknown": 500, "invalid_argument": 400, "deadline_exceeded": 504, "not_found": 404, "already_exists": 409,
            "permission_denied": 403, "resource_exhausted": 429, "failed_precondition": 400, "aborted": 409, "out_of_range": 400,
            "unimplemented": 501, "internal": 500, "unavailable": 503, "data_loss": 500, "unauthenticated": 401}


def likely(story: dict, postback: dict) -> dict[str, list]:
    """Values that mean something to the running system, by the name of the field. Random text never gets past the first check."""
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
    }


def sharpened(values: dict[str, list]) -> dict:
    """The contract with likely values in place of any that have the right type."""
    contract = copy.deepcopy(CONTRACT)

    def sharpen(schema: dict) -> None:
        properties = schema.get("properties", {})
        for name, found in values.items():
            if name in properties:
                fitting = [value for value in found if fits(value, properties[name])]
                if fitting:
                    properties[name] = {"enum": fitting}

    for name, schema in contract["components"]["schemas"].items():
        if name.endswith("Request"):  # whatever else there is may stand in an answer
            sharpen(schema)
    for path, item in contract["paths"].items():
        if path.startswith(("/v1/", "/.well-known/")):
            for operation in item.values():
                for content in operation["requestBody"]["content"].values():
                    sharpen(content["schema"])
                for parameter in operation.get("parameters", []):
                    if parameter["in"] == "path" and parameter["name"] in values:
                        parameter["schema"] = {"enum": values[parameter["name"]]}
    return contract


def fits(value, schema: dict) -> bool:
    return jsonschema_rs.is_valid({"components": CONTRACT["components"], **schema}, value)


def without_security(contract: dict) -> dict:
    """Tokens are this test's to send, not to be made up."""
    contract = copy.deepcopy(contract)
    for item in contract["paths"].values():
        for operation in item.values():
            operation.pop("security", None)
    return contract


class Subject:
    """A system of this module's own, since it pauses queues and empties them, and the contract's operations on it."""

    def __init__(self, system):
        self.system, self.session = system, requests.Session()
        story = system.control("/control/notifications/story", {
            "bundleId": "com.example.app", "environment": "Production", "steps": ["buy", "renew"], "send": True})["notifications"][0]
        postback = json.loads(system.control("/control/skadnetwork/postbacks", {"version": "4.0", "send": False})["body"])
        system.call("Events", "CreateSubscription", {"name": "contract"})
        self.plain = self.operations(CONTRACT)
        self.likely = self.operations(sharpened(likely(story, postback)))

    @staticmethod
    def operations(contract: dict) -> dict:
        loaded = schemathesis.openapi.from_dict(without_security(contract))
        found = [result.ok() for result in loaded.get_all_operations()]
        return {(operation.method, operation.path): operation for operation in found}

    def base(self, operation: dict) -> str:
        tag = operation["tags"][0]
        return self.system.public if tag == "public" else self.system.url(tag)

    def headers(self, operation: dict) -> dict[str, str]:
        headers = {} if operation["tags"][0] == "public" else {"Authorization": f"Bearer {self.system.token}"}
        if operation.get("x-idempotency") == "keyed":
            headers["Idempotency-Key"] = uuid.uuid4().hex
        return headers

    def run(self, operation, mode: GenerationMode, judge) -> None:
        """Sends made-up requests to an operation and has each answer judged."""
        raw = operation.definition.raw

        @hypothesis.seed(SEED)
        @hypothesis.settings(max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
                             suppress_health_check=list(HealthCheck), print_blob=False)
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        def each(case):
            response = case.call(base_url=self.base(raw), session=self.session, headers=self.headers(raw))
            for _ in range(3):  # Apple may be away for a moment, and a caller is told to come again
                if response.status_code != 503 or "APP_STORE_UNAVAILABLE" not in response.text:
                    break
                conforms_as_retryable(response)
                response = case.call(base_url=self.base(raw), session=self.session, headers=self.headers(raw))
            judge(case, response)

        try:
            each()
        except BaseException as error:
            error.add_note(f"ATTRIBUTION_SEED={SEED}")
            raise


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    system = start_system(tmp_path_factory.mktemp("contract"))
    try:
        yield Subject(system)
    finally:
        stop_system(system)


def conforms_as_retryable(response) -> None:
    assert response.json()["code"] == "unavailable" and int(response.headers["retry-after"][0]) >= 1


def conforms(case, response) -> None:
    """What holds for every answer, whatever was asked."""
    case.validate_response(response, checks=CONFORMANCE)
    assert response.headers["x-request-id"][0]
    if response.status_code < 300:
        return
    error = response.json()
    public = case.operation.definition.raw["tags"][0] == "public"
    if not (public and response.status_code in (405, 408, 413, 415)):
        assert STATUSES[error["code"]] == response.status_code, error
    for detail in error.get("details", []):
        assert "=" not in detail["value"] and base64.b64decode(detail["value"] + "=" * (-len(detail["value"]) % 4), validate=True)
        if detail["type"] == "google.rpc.RetryInfo":
            assert int(response.headers["retry-after"][0]) >= 1


def as_read(value, schema: dict):
    """The value as services read it: by the conventions a null is an absent field, a field may have its snake_case name and a
    decimal string may stand for a number."""
    if "$ref" in schema:
        return as_read(value, SCHEMAS[schema["$ref"].rsplit("/", 1)[1]])
    properties = schema.get("properties")
    if isinstance(value, dict) and properties is not None:
        read = {}
        for name, inner in value.items():
            camel = re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)
            known = name if name in properties else camel if camel in properties else None
            if known is None:
                read[name] = inner
            elif inner is not None:
                read[known] = as_read(inner, properties[known])
        return read
    if isinstance(value, list) and "items" in schema:
        return [as_read(inner, schema["items"]) for inner in value]
    if schema.get("type") == "integer" and isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value, re.ASCII):
        return int(value)
    return value


def is_refused_by_contract(value, schema: dict) -> bool:
    return not fits(as_read(value, schema), schema)


CALLS = [pytest.param(path, id=path.rsplit(".", 1)[-1]) for path in CONTRACT["paths"]
         if path.startswith("/attribution.")]
ROUTES = [(method, path) for path, item in CONTRACT["paths"].items() for method, operation in item.items() if "public" in operation["tags"]]


@pytest.mark.parametrize("path", CALLS)
@pytest.mark.parametrize("values", ["any", "likely"])
def test_a_call_that_fits_the_contract_is_answered_by_the_contract(subject, path, values):
    operations = subject.plain if values == "any" else subject.likely
    reads_by_get = ("get", path) in operations
    dice = random.Random(SEED)

    def judge(case, response):
        conforms(case, response)
        if reads_by_get:
            ask_again_by_get(subject, path, case, response, dice)

    subject.run(operations["post", path], GenerationMode.POSITIVE, judge)


def ask_again_by_get(subject, path: str, case, response, dice: random.Random) -> None:
    """A read says the same when it is asked by GET, in each form that a message may have there."""
    body = json.dumps(case.body).encode()
    packed = gzip.compress(body)
    query = dice.choice([
        {"message": body.decode()}, {"message": base64.urlsafe_b64encode(body).decode().rstrip("="), "base64": "1"},
        {"message": base64.urlsafe_b64encode(packed).decode(), "base64": "1", "compression": "gzip"}])
    if len(query["message"]) > 2000:
        return
    raw = CONTRACT["paths"][path]["get"]
    answer = subject.session.get(subject.base(raw) + path, params={"encoding": "json", "connect": "v1", **query}, headers=subject.headers(raw))
    assert answer.status_code == response.status_code, (query, answer.text, response.text)
    if answer.status_code != 200:
        assert answer.json()["code"] == response.json()["code"]
    else:
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", CALLS)
def test_a_call_that_does_not_fit_the_contract_is_refused(subject, path):
    schema = CONTRACT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    is_batch = "items" in SCHEMAS[schema["$ref"].rsplit("/", 1)[1]]["properties"]

    def judge(case, response):
        conforms(case, response)
        if response.status_code != 200 or not isinstance(case.body, (dict, list, str, int, float, type(None))):
            return
        if not is_batch:
            assert not is_refused_by_contract(case.body, schema), f"taken: {case.body!r}"
            return
        # An item that cannot be read is an error at its place, not of the call.
        items = (case.body.get("items") or []) if isinstance(case.body, dict) else pytest.fail(f"taken: {case.body!r}")
        assert not is_refused_by_contract({**case.body, "items": []}, schema), f"taken: {case.body!r}"
        results = response.json().get("results", [])
        assert len(results) == len(items)
        kind = SCHEMAS[schema["$ref"].rsplit("/", 1)[1]]["properties"]["items"]["items"]
        for item, result in zip(items, results, strict=True):
            assert "error" in result or not is_refused_by_contract(item, kind), f"taken: {item!r}"

    subject.run(subject.plain["post", path], GenerationMode.NEGATIVE, judge)


@pytest.mark.parametrize("method,path", ROUTES)
@pytest.mark.parametrize("values", ["any", "likely"])
def test_a_public_route_answers_by_the_contract(subject, method, path, values):
    operations = subject.plain if values == "any" else subject.likely
    subject.run(operations[method, path], GenerationMode.POSITIVE, conforms)


@pytest.mark.parametrize("method,path", ROUTES)
def test_a_public_route_refuses_what_does_not_fit_the_contract(subject, method, path):
    def judge(case, response):
        conforms(case, response)
        case.validate_response(response, checks=[negative_data_rejection])

    subject.run(subject.plain[method, path], GenerationMode.NEGATIVE, judge)


def test_each_call_needs_a_caller_that_may_make_it(subject):
    for path, item in CONTRACT["paths"].items():
        for method, operation in item.items():
            if operation["tags"][0] == "public":
                continue
            assert operation["security"] == [{"bearer": []}]
            for token in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {subject.system.token}"}):
                answer = subject.session.request(
                    method, subject.base(operation) + path, headers=token, params={"encoding": "json", "message": "{}"} if method == "get" else None,
                    json=None if method == "get" else {})
                assert answer.status_code == 401 and answer.json()["code"] == "unauthenticated", (method, path, token, answer.text)
                assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_by_which_methods_a_call_is_made_is_what_the_contract_says(subject):
    for path, item in CONTRACT["paths"].items():
        operation = next(iter(item.values()))
        for method in ("get", "put", "delete", "patch"):
            if operation["tags"][0] == "public" or method in item:
                continue
            answer = subject.session.request(method, subject.base(operation) + path, headers=subject.headers(operation))
            allowed = {name.strip().lower() for name in answer.headers.get("Allow", "").split(",")}
            assert answer.status_code == 405 and allowed == set(item), (method, path, answer.status_code, answer.headers)


def test_every_component_and_every_answer_is_what_json_schema_allows():
    for name, schema in SCHEMAS.items():
        assert jsonschema_rs.meta.is_valid(schema), name
    assert json.dumps(CONTRACT).count('"$ref"') == sum(
        reference.rsplit("/", 1)[1] in SCHEMAS for reference in re.findall(r'"\$ref": "(#/components/schemas/\w+)"', json.dumps(CONTRACT)))
