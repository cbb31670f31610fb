"""Rate limits of peers and callers, allow lists, and trusted proxies."""

import hashlib
import http.client
import json
import re
import uuid

import pytest

from SystemTests.support.ingest_process import IngestProcess

METHOD = "/attribution.ingest.v1.IngestService/GetDelivery"


def postback() -> bytes:
    return json.dumps({"version": "4.0", "ad-network-id": "example123.skadnetwork", "transaction-id": str(uuid.uuid4()),
                       "attribution-signature": "AA=="}).encode()


def ask(edge, path: str, body: bytes, headers: dict[str, str] | None = None, *, port: int | None = None):
    connection = http.client.HTTPConnection("127.0.0.1", port or edge.port, timeout=60)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json", **(headers or {})})
        response = connection.getresponse()
        return response.status, {key.lower(): value for key, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def forwarded_for(address: str) -> dict[str, str]:
    return {"X-Forwarded-For": address}


@pytest.fixture(scope="module")
def edge(system, tmp_path_factory):
    """An ingest that allows a peer ten requests immediately and then one in about a quarter of an hour. It trusts 127.0.0.1 as a proxy."""
    settings = ("edge:\n  trustedProxies: [127.0.0.1, 10.0.0.0/8]\n  peerRate: { perSecond: 0.001, burst: 10 }\n"
                "  allow: { notification: [apple], session: [apple, 192.0.2.0/24] }\n")
    digest = hashlib.sha256(b"limited-token").hexdigest()
    clients = (f'  - {{ name: limited, tokenSHA256: "{digest}", allow: ["attribution.*"], rate: {{ perSecond: 0.001, burst: 5 }} }}\n')
    with IngestProcess(system, tmp_path_factory.mktemp("rates"), settings=settings, clients=clients) as process:
        yield process


def test_a_peer_over_its_rate_limit_gets_a_retry_time(edge):
    for _ in range(10):
        assert ask(edge, "/v1/postbacks", postback(), forwarded_for("198.51.100.1"))[0] == 200
    # A device sends its postback again only after 500.
    status, headers, body = ask(edge, "/v1/postbacks", postback(), forwarded_for("198.51.100.1"))
    assert status == 500 and 900 <= int(headers["retry-after"]) <= 1000 and json.loads(body)["code"] == "resource_exhausted"
    status, headers, body = ask(edge, "/v1/adservices/tokens", b"{}", forwarded_for("198.51.100.1"))
    assert status == 429 and "retry-after" in headers
    assert ask(edge, "/v1/nothing", b"", forwarded_for("198.51.100.1"))[0] == 429
    # Other peers are not affected.
    assert ask(edge, "/v1/postbacks", postback(), forwarded_for("198.51.100.2"))[0] == 200
    assert edge.metric('attribution_rate_limited_total{method="public/postback"}') == 1


def test_a_peer_gets_its_rate_limit_status_in_every_counted_answer(edge):
    """The fields of draft-ietf-httpapi-ratelimit-headers, on every counted answer."""
    def rate_fields(path: str, body: bytes, address: str = "198.51.100.30") -> tuple[int, str | None, str | None, str | None]:
        status, headers, _ = ask(edge, path, body, forwarded_for(address))
        return status, headers.get("ratelimit-policy"), headers.get("ratelimit"), headers.get("retry-after")

    policy = '"peer";q=10;w=10000'
    for number, (path, body, expected) in enumerate([
            ("/v1/postbacks", postback(), 200), ("/v1/postbacks", b"{}", 400), ("/v1/nothing", b"", 404), ("/v1/adservices/tokens", b"{}", 400)]):
        status, *fields = rate_fields(path, body)
        assert (status, fields[0]) == (expected, policy) and re.fullmatch(rf'"peer";r={9 - number};t=\d+', fields[1]), fields
    for _ in range(6):
        rate_fields("/v1/postbacks", postback())
    for path, expected in (("/v1/postbacks", 500), ("/v1/sessions", 403), ("/v1/adservices/tokens", 429)):
        status, *fields = rate_fields(path, b"{}")
        if expected == 403:  # no rate is counted if only others may call
            assert (status, fields) == (403, [None] * 3)
            continue
        assert status == expected and fields[0] == policy
        left, seconds = re.fullmatch(r'"peer";r=(\d+);t=(\d+)', fields[1]).groups()
        assert left == "0" and int(seconds) <= int(fields[2])


def test_without_a_rate_limit_there_are_no_rate_headers(system, tmp_path):
    with IngestProcess(system, tmp_path) as process:
        _, headers, _ = ask(process, "/v1/postbacks", postback())
        assert not [name for name in headers if name.startswith("ratelimit")]


def test_the_addresses_of_an_ipv6_network_of_64_bits_are_one_peer(edge):
    for number in range(10):
        assert ask(edge, "/v1/postbacks", postback(), forwarded_for(f"2001:db8:1:1::{number}"))[0] == 200
    assert ask(edge, "/v1/postbacks", postback(), forwarded_for("2001:db8:1:1:ffff::1"))[0] == 500
    assert ask(edge, "/v1/postbacks", postback(), forwarded_for("2001:db8:1:2::1"))[0] == 200


def test_forwarded_headers_of_clients_are_ignored(edge):
    """The rightmost address is added by the last proxy: addresses before it do not give a new rate."""
    for number in range(10):
        assert ask(edge, "/v1/postbacks", postback(), forwarded_for(f"203.0.113.{number}, 198.51.100.7, 10.1.1.1"))[0] == 200
    assert ask(edge, "/v1/postbacks", postback(), forwarded_for("203.0.113.99, 198.51.100.7"))[0] == 500


def test_an_allow_list_applies_only_to_its_kind_of_route(edge):
    notification = b'{"signedPayload":"x"}'
    status, _, body = ask(edge, "/v1/app-store/notifications", notification, forwarded_for("198.51.100.20"))
    assert status == 403 and json.loads(body)["code"] == "permission_denied"
    for address in ("17.0.0.0", "17.255.255.255"):
        assert ask(edge, "/v1/app-store/notifications", notification, forwarded_for(address))[0] == 200
    for address in ("16.255.255.255", "18.0.0.0", "17.0.0.1, 198.51.100.20"):
        assert ask(edge, "/v1/app-store/notifications", notification, forwarded_for(address))[0] == 403
    session = json.dumps({"bundleId": "com.example.app", "installId": uuid.uuid4().hex, "attStatus": 2}).encode()
    assert ask(edge, "/v1/sessions", session, forwarded_for("192.0.2.77"))[0] == 202
    assert ask(edge, "/v1/sessions", session, forwarded_for("192.0.3.77"))[0] == 403
    assert ask(edge, "/v1/postbacks", postback(), forwarded_for("198.51.100.20"))[0] == 200


@pytest.mark.parametrize("headers", [
    {}, forwarded_for(""), forwarded_for("unknown"), forwarded_for("17.0.0.1, unknown"), forwarded_for("17.0.0.1, _hidden"),
    {"Forwarded": "for=17.0.0.1"}, forwarded_for("17.0.0.1, 300.1.2.3"),
], ids=str)
def test_a_client_that_no_proxy_names_is_on_no_allow_list(edge, headers):
    """Then the proxy itself is the peer; an address beside an invalid entry is not trusted."""
    assert ask(edge, "/v1/app-store/notifications", b"{}", headers)[0] == 403


@pytest.mark.parametrize("path,known", [("/v1/app-store/notifications", 200), ("/v1/adservices/tokens", 400)], ids=["notification", "token"])
def test_a_client_outside_the_allow_list_cannot_learn_which_apps_exist(system, tmp_path, path, known):
    text = "edge: { trustedProxies: [127.0.0.1], allow: { notification: [apple], token: [apple] } }\n"
    body = b'{"signedPayload":"x"}'
    with IngestProcess(system, tmp_path, settings=text) as process:
        def answer(app: str, address: str, method: str = "POST"):
            connection = http.client.HTTPConnection("127.0.0.1", process.port, timeout=60)
            try:
                connection.request(method, f"{path}/{app}", body, {"Content-Type": "application/json", **forwarded_for(address)})
                response = connection.getresponse()
                headers = {name.lower(): value for name, value in response.getheaders()}
                return response.status, {name: value for name, value in headers.items() if name not in ("date", "x-request-id")}, response.read()
            finally:
                connection.close()

        apps = ("com.example.app", "com.example.nobody")
        for method in ("POST", "GET"):
            ours, theirs = (answer(app, "198.51.100.20", method) for app in apps)
            assert ours == theirs and ours[0] == 403, (ours, theirs)
        # A permitted caller gets the specific error.
        assert [answer(app, "17.1.2.3")[0] for app in apps] == [known, 404]
        assert process.metric('attribution_http_rejected_total{cause="address"}') == 4


def test_the_app_store_has_its_own_rate_limit(system, tmp_path):
    """Its notifications come from a few addresses. A refused one is answered with a status after which Apple surely retries."""
    settings = ("edge:\n  trustedProxies: [127.0.0.1]\n  peerRate: { perSecond: 0.001, burst: 2 }\n"
                "  appStoreRate: { perSecond: 0.001, burst: 5 }\n")
    with IngestProcess(system, tmp_path, settings=settings) as process:
        def post(address: str) -> tuple[int, dict[str, str], bytes]:
            body = json.dumps({"signedPayload": uuid.uuid4().hex}).encode()
            return ask(process, "/v1/app-store/notifications", body, forwarded_for(address))

        assert [post("17.1.2.3")[0] for _ in range(5)] == [200] * 5
        status, headers, _ = post("17.1.2.3")
        assert status == 503 and 900 <= int(headers["retry-after"]) <= 1000
        assert [post("198.51.100.1")[0] for _ in range(3)] == [200, 200, 503]
        assert [ask(process, "/v1/postbacks", postback(), forwarded_for("17.1.2.3"))[0] for _ in range(3)] == [200, 200, 500]
        assert process.metric('attribution_rate_limited_total{method="public/notification"}') == 2


def test_without_configured_proxies_forwarded_headers_are_ignored(system, tmp_path):
    settings = "edge: { allow: { notification: [apple] }, peerRate: { perSecond: 0.001, burst: 3 } }\n"
    with IngestProcess(system, tmp_path, settings=settings) as process:
        assert ask(process, "/v1/app-store/notifications", b"{}", forwarded_for("17.0.0.1"))[0] == 403
        assert [ask(process, "/v1/postbacks", postback(), forwarded_for(f"198.51.100.{number}"))[0] for number in range(4)] == [200, 200, 200, 500]


def test_a_caller_over_its_rate_limit_gets_a_retry_time(edge, system):
    message = json.dumps({"id": "000-" + "0" * 32}).encode()
    limited, other = ({"Authorization": f"Bearer {token}"} for token in ("limited-token", system.token))
    assert [ask(edge, METHOD, message, limited, port=edge.internal_port)[0] for _ in range(5)] == [404] * 5
    status, headers, body = ask(edge, METHOD, message, limited, port=edge.internal_port)
    error = json.loads(body)
    assert status == 429 and error["code"] == "resource_exhausted" and 900 <= int(headers["retry-after"]) <= 1000
    assert [detail["type"] for detail in error["details"]] == ["google.rpc.ErrorInfo", "google.rpc.RetryInfo"]
    # Another method has its own rate, and so has another caller.
    assert ask(edge, "/attribution.queues.v1.QueuesService/ListQueues", b"{}", limited, port=edge.internal_port)[0] == 200
    assert [ask(edge, METHOD, message, other, port=edge.internal_port)[0] for _ in range(20)] == [404] * 20
    assert edge.metric('attribution_rate_limited_total{method="GetDelivery"}') == 1


@pytest.mark.parametrize("settings,named", [
    ("edge: { trustedProxies: [10.0.0.0/33] }\n", "edge.trustedProxies[0]"),
    ("edge: { allow: { notification: [17.0.0.1/8] } }\n", "edge.allow.notification[0]"),
])
def test_a_wrong_address_range_prevents_the_start_and_is_named(system, tmp_path, settings, named):
    process = IngestProcess(system, tmp_path, settings=settings)
    assert process.process.wait(60) == 78
    assert f"cannot start: {named}: " in process.log()
