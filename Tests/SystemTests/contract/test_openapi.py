"""The running services conform to their contract, openapi.json: schemathesis generates requests from it.

The requests are determined by a seed, which a failure prints: ATTRIBUTION_SEED=… repeats them.
"""

import base64
import gzip
import json
import random
import re

import jsonschema_rs
import pytest
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
)

from SystemTests.support.running_system import start_system, stop_system

from .openapi_subject import CONFORMANCE, CONTRACT, SCHEMAS, SEED, STATUSES, Subject, fits


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    system = start_system(tmp_path_factory.mktemp("contract"))
    try:
        yield Subject(system)
    finally:
        stop_system(system)


def conforms(case, response) -> None:
    """Properties of every answer, whatever the request."""
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


def as_services_read(value, schema: dict):
    """The value as services read it: a null is an absent field, a field may have its snake_case name, and a number may be a decimal
    string."""
    if "$ref" in schema:
        return as_services_read(value, SCHEMAS[schema["$ref"].rsplit("/", 1)[1]])
    properties = schema.get("properties")
    if isinstance(value, dict) and properties is not None:
        read = {}
        for name, inner in value.items():
            camel = re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)
            known = name if name in properties else camel if camel in properties else None
            if known is None:
                read[name] = inner
            elif inner is not None:
                read[known] = as_services_read(inner, properties[known])
        return read
    if isinstance(value, list) and "items" in schema:
        return [as_services_read(inner, schema["items"]) for inner in value]
    if schema.get("type") == "integer" and isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value, re.ASCII):
        return int(value)
    return value


def is_refused_by_contract(value, schema: dict) -> bool:
    return not fits(as_services_read(value, schema), schema)


CALLS = [pytest.param(path, id=path.rsplit(".", 1)[-1]) for path in CONTRACT["paths"]
         if path.startswith("/attribution.")]
ROUTES = [(method, path) for path, item in CONTRACT["paths"].items() for method, operation in item.items() if "public" in operation["tags"]]


@pytest.mark.parametrize("path", CALLS)
@pytest.mark.parametrize("values", ["any", "likely"])
def test_a_call_that_fits_the_contract_is_answered_by_the_contract(subject, path, values):
    operations = subject.plain if values == "any" else subject.likely
    reads_by_get = ("get", path) in operations
    dice = random.Random(SEED)

    def check(case, response):
        conforms(case, response)
        if reads_by_get:
            check_by_get(subject, path, case, response, dice)

    subject.run(operations["post", path], GenerationMode.POSITIVE, check)


def check_by_get(subject, path: str, case, response, dice: random.Random) -> None:
    """Checks that a read gives the same answer by GET, with the message in one of its encodings."""
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

    def check(case, response):
        conforms(case, response)
        if response.status_code != 200 or not isinstance(case.body, (dict, list, str, int, float, type(None))):
            return
        if not is_batch:
            assert not is_refused_by_contract(case.body, schema), f"accepted: {case.body!r}"
            return
        # An unreadable item is an error of this item, not of the call.
        items = (case.body.get("items") or []) if isinstance(case.body, dict) else pytest.fail(f"accepted: {case.body!r}")
        assert not is_refused_by_contract({**case.body, "items": []}, schema), f"accepted: {case.body!r}"
        results = response.json().get("results", [])
        assert len(results) == len(items)
        kind = SCHEMAS[schema["$ref"].rsplit("/", 1)[1]]["properties"]["items"]["items"]
        for item, result in zip(items, results, strict=True):
            assert "error" in result or not is_refused_by_contract(item, kind), f"accepted: {item!r}"

    subject.run(subject.plain["post", path], GenerationMode.NEGATIVE, check)


@pytest.mark.parametrize("method,path", ROUTES)
@pytest.mark.parametrize("values", ["any", "likely"])
def test_a_public_route_answers_by_the_contract(subject, method, path, values):
    operations = subject.plain if values == "any" else subject.likely
    subject.run(operations[method, path], GenerationMode.POSITIVE, conforms)


@pytest.mark.parametrize("method,path", ROUTES)
def test_a_public_route_refuses_what_does_not_fit_the_contract(subject, method, path):
    def check(case, response):
        conforms(case, response)
        case.validate_response(response, checks=[negative_data_rejection])

    subject.run(subject.plain[method, path], GenerationMode.NEGATIVE, check)


def test_each_call_requires_a_caller_with_permission(subject):
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


def test_http_methods_of_calls_match_the_contract(subject):
    for path, item in CONTRACT["paths"].items():
        operation = next(iter(item.values()))
        for method in ("get", "put", "delete", "patch"):
            if operation["tags"][0] == "public" or method in item:
                continue
            answer = subject.session.request(method, subject.base(operation) + path, headers=subject.headers(operation))
            allowed = {name.strip().lower() for name in answer.headers.get("Allow", "").split(",")}
            assert answer.status_code == 405 and allowed == set(item), (method, path, answer.status_code, answer.headers)


def test_components_and_answers_are_valid_json_schema():
    for name, schema in SCHEMAS.items():
        assert jsonschema_rs.meta.is_valid(schema), name
    assert json.dumps(CONTRACT).count('"$ref"') == sum(
        reference.rsplit("/", 1)[1] in SCHEMAS for reference in re.findall(r'"\$ref": "(#/components/schemas/\w+)"', json.dumps(CONTRACT)))
