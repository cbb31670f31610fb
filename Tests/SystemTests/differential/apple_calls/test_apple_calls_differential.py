"""For every call of Apple's library for Python, the requests of the library and those of the service mean the same: method, path, query,
body, and the bearer token's claims. Hypothesis generates the cases and minimises failures. ATTRIBUTION_SOAK=1: thousands of each.

For the Advanced Commerce API the library has bodies and no calls, so its send function is used with Apple's documented paths. For external
purchases it has nothing: Apple's documented examples are in test_external_purchases.py.
"""

import collections
import concurrent.futures
import itertools
import json
import os
import random
import time

import hypothesis
import pytest
import yaml
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from SystemTests.apple_calls.steps import APP, new_id, story
from SystemTests.support.second_instance import second_instance

from .cases import CALLS, ENDPOINTS, texts
from .commerce_cases import COMMERCE
from .history_cases import divided_recoveries, recoveries
from .library import Capture, Library

SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
EXAMPLES = 1000 if SOAK else 100
# Recoveries of windows that are divided into slices; each of them is some 40 requests.
DIVIDED = 30 if SOAK else 6
# Calls without arguments: each has only one possible request.
SINGLE = {"Request a Test Notification", "Get Image List", "Get Message List", "Get Realtime URL", "Delete Realtime URL"}
SEED = int(os.environ.get("ATTRIBUTION_SEED", random.randrange(2**32) if SOAK else 0))
# Cases run at the same time, because each mostly waits: for the disk of Redis, or for another process.
AT_ONCE = 12

EVERY = {**CALLS, **COMMERCE}


def generated(strategy, count, check, *phases):
    """Runs a check with generated cases, the same ones for the same seed."""
    @hypothesis.seed(SEED)
    @settings(max_examples=count, deadline=None, database=None, phases=[Phase.explicit, Phase.generate, *phases],
              suppress_health_check=list(HealthCheck))
    @given(strategy)
    def run(case):
        check(case)

    run()


def text(request) -> str:
    """A request's meaning as text, to count requests."""
    return json.dumps(request.meaning(), sort_keys=True, default=repr)


class Pair:
    """The service and Apple's library."""

    def __init__(self, system, base: str, capture: Capture, library: Library, purchase: str, public_key):
        self.system, self.base, self.capture, self.library, self.purchase = system, base, capture, library, purchase
        self.public_key = public_key
        # By test: the meanings of the compared requests; a request that was generated twice counts once.
        self.compared = collections.defaultdict(set)

    def rpc(self, service: str, method: str, message: dict):
        return self.system.rpc(service, method, {"bundleId": APP, "environment": "Production", **message}, key=new_id(), base=self.base)

    def ours(self, service: str, method: str, message: dict):
        before = len(self.capture.requests)
        answer = self.rpc(service, method, message)
        made = self.capture.requests[before:]
        assert len(made) == 1, (method, answer, made)
        return made[0]

    def apples(self, ask):
        request = self.library.request(ask)
        if "revoked" in request.query:
            # Apple's library for Python writes True and False; Apple's pages and its library for Swift write true and false.
            request.query["revoked"] = [text.lower() for text in request.query["revoked"]]
        return request

    def agree(self, case) -> None:
        """One case, alone."""
        ask, service, method, message = case
        apple, ours = self.apples(ask), self.ours(service, method, message)
        assert ours.meaning() == apple.meaning()
        self.agree_on_tokens([apple], [ours])

    def agree_on_tokens(self, apple, ours) -> None:
        for theirs in apple:
            their_header, their_claims = theirs.claims(self.public_key)
        for request in ours:
            header, claims = request.claims(self.public_key)
            assert header == their_header
            assert {name: claims[name] for name in ("iss", "aud", "bid")} == {name: their_claims[name] for name in ("iss", "aud", "bid")}
            # Apple's pages require `iat`, which the library omits; a lifetime of more than an hour is refused.
            assert set(claims) == set(their_claims) | {"iat"} and 0 < claims["exp"] - claims["iat"] <= 3600

    def same(self, name: str, apple, ours) -> bool:
        """Whether the same requests were made, in any order."""
        if collections.Counter(map(text, apple)) != collections.Counter(map(text, ours)):
            return False
        self.agree_on_tokens(apple, ours)
        self.compared[name] |= set(map(text, ours))
        return True

    def distinct(self, strategy, count: int):
        """Cases with different requests, and the library's requests; fewer if the strategy has no more. Some are generated twice."""
        found = {}

        def add(case) -> None:
            if len(found) < count:
                request = self.apples(case[0])
                found.setdefault(text(request), (request, case))

        for examples in (count, 2 * count):
            generated(strategy, examples, add)
            if len(found) == count:
                break
        return found.values()

    def compare(self, name: str, strategy, count: int) -> None:
        """Compares that many cases, several at a time. If there is a difference, the cases are repeated one by one for the smallest one."""
        apple, cases = [], []
        for request, case in self.distinct(strategy, count):
            apple.append(request)
            cases.append(case)
        before = len(self.capture.requests)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
            answers = list(threads.map(lambda case: self.rpc(*case[1:]), cases))
        ours = self.capture.requests[before:]
        if not self.same(name, apple, ours):
            generated(strategy, count, self.agree, Phase.shrink)
            expected, made = collections.Counter(map(text, apple)), collections.Counter(map(text, ours))
            raise AssertionError((name, "only when sent together", f"ATTRIBUTION_SEED={SEED}", expected - made, made - expected, answers))

    def recover(self, wanted) -> None:
        """Runs recoveries to their end."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
            ids = [answer.json["recoveryId"] for answer in threads.map(lambda one: self.rpc("Recovery", "StartRecovery", one.message), wanted)]
        end = time.monotonic() + 120
        for id in ids:
            while (found := self.system.call("Recovery", "GetRecovery", {"recoveryId": id}, base=self.base))["state"] == "running":
                assert time.monotonic() < end, found
                time.sleep(0.1)
            assert found["state"] == "completed", found


@pytest.fixture(scope="module")
def pair(system):
    capture = Capture()
    try:
        configuration = yaml.safe_load((system.data / "configuration.yaml").read_text())
        app = next(one for one in configuration["apps"] if one["bundleId"] == APP)
        # Scheduled recoveries would send requests that belong to no case.
        app["recovery"] = {"schedule": "never", "outages": False}
        server = app["appStoreServer"]
        key = (system.data / server["privateKey"]).read_bytes()
        library = Library(key, server["keyId"], server["issuerId"], APP)
        # To extend a renewal date, the service first queries the end of the subscription.
        purchase = story(system, "buy")["originalTransactionId"]
        status = system.call("Recovery", "GetSubscriptionStatuses", {"bundleId": APP, "environment": "Production", "transactionId": purchase})
        capture.answers["GET", f"/inApps/v1/subscriptions/{purchase}"] = status["response"]
        # Without the rate limits that services observe for Apple, because the called server is not Apple's.
        configuration["recovery"] = {"mostRunning": 10_000, "rates": dict.fromkeys([*ENDPOINTS, "getNotificationHistory"], 1000)}
        own = system.data / "unlimited.yaml"
        own.write_text(yaml.safe_dump(configuration, width=10_000))
        more = "\n".join(f"export ATTRIBUTION_APP_STORE_{name}_URL={capture.url}" for name in ("PRODUCTION", "SANDBOX"))
        # Only one instance leads an app and works its recoveries: the one that calls the capturing server.
        system.service("stop", "notification-recovery")
        try:
            with second_instance(system, "notification-recovery", f"{more}\nexport ATTRIBUTION_CONFIG={own}") as base:
                yield Pair(system, base, capture, library, purchase, load_pem_private_key(key, None).public_key())
        finally:
            system.service("start", "notification-recovery")
    finally:
        capture.close()


@pytest.mark.filterwarnings("ignore:send_consumption_data")
@pytest.mark.parametrize("name", EVERY)
def test_requests_are_equivalent_to_those_of_apples_library(pair, name):
    count = 1 if name in SINGLE else EXAMPLES
    pair.compare(name, EVERY[name], count)
    print(f"{name}: {len(pair.compared[name])} requests mean the same")
    assert len(pair.compared[name]) >= count


def test_the_request_to_extend_one_subscription_is_equivalent_to_that_of_apples_library(pair):
    @st.composite
    def extension(draw):
        days, reason, id = draw(st.integers(1, 90)), draw(st.sampled_from(list(ExtendReasonCode))), f"{new_id()} {draw(texts(64))}"
        body = ExtendRenewalDateRequest(extendByDays=days, extendReasonCode=reason, requestIdentifier=id)
        return (lambda apple: apple.extend_subscription_renewal_date(pair.purchase, body), "Recovery", "ExtendSubscriptionRenewalDate",
                {"originalTransactionId": pair.purchase, "extendByDays": days, "extendReasonCode": int(reason), "requestIdentifier": id})

    pair.compare("Extend a Subscription Renewal Date", extension(), EXAMPLES)
    assert len(pair.compared["Extend a Subscription Renewal Date"]) >= EXAMPLES


def test_requests_for_the_pages_of_a_notification_history_are_equivalent_to_those_of_apples_library(pair):
    """A recovery requests the window that its caller names and ten minutes on each side, page by page."""
    def requests_for(wanted):
        by_window = {one.window: one for one in wanted}
        pair.capture.answer_of = lambda request: by_window[request.body["startDate"], request.body["endDate"]].answer(
            request.query.get("paginationToken", [None])[0])
        before = len(pair.capture.requests)
        try:
            pair.recover(wanted)
        finally:
            pair.capture.answer_of = lambda _request: None
        return [request for one in wanted for request in one.requests(pair.library)], pair.capture.requests[before:]

    # The test finds the requests of a recovery by its window, so no two recoveries have the same window.
    windows, count = {}, EXAMPLES * 2 // 3
    generated(recoveries(), 2 * count, lambda one: windows.setdefault(one.window, one))
    wanted = list(windows.values())[:count]
    if not pair.same("Get Notification History", *(found := requests_for(wanted))):
        def agree(one):
            apple, ours = requests_for([one])
            assert [request.meaning() for request in ours] == [request.meaning() for request in apple]

        generated(recoveries(), 2 * count, agree, Phase.shrink)
        raise AssertionError(("only when sent together", f"ATTRIBUTION_SEED={SEED}", found))
    print(f"{len(wanted)} recoveries, {len(pair.compared['Get Notification History'])} pages")
    assert len(wanted) == count and len(pair.compared["Get Notification History"]) >= EXAMPLES


def test_requests_for_the_slices_of_a_long_notification_history_are_equivalent_to_those_of_apples_library(pair):
    """A window of many pages is divided: each request is the library's for the slice's start and end, and the slices cover the window."""
    def agree(one):
        first = [text(request) for request in one.requests(pair.library)[:-1]]
        tokens = (None, *one.tokens)
        # The whole window always has another page; a slice has one.
        pair.capture.answer_of = lambda request: (
            one.answer(request.query.get("paginationToken", [None])[0])
            if (request.body["startDate"], request.body["endDate"]) == one.window else {"hasMore": False})
        before = len(pair.capture.requests)
        try:
            pair.recover([one])
        finally:
            pair.capture.answer_of = lambda _request: None
        ours = pair.capture.requests[before:]
        assert len(first) == len(tokens) - 1 and [text(request) for request in ours[:len(first)]] == first
        slices = [(request.body["startDate"], request.body["endDate"]) for request in ours[len(first):]]
        assert len(slices) > 1
        assert (min(slices)[0], max(slices)[1]) == one.window
        assert all(left[1] == right[0] for left, right in itertools.pairwise(sorted(slices)))
        apple = [*one.requests(pair.library)[:-1], *(one.request(pair.library, None, *part) for part in slices)]
        assert pair.same("Get Notification History", apple, ours)

    before = len(pair.compared["Get Notification History"])
    generated(divided_recoveries(), DIVIDED, agree, Phase.shrink)
    print(f"{len(pair.compared['Get Notification History']) - before} requests of {DIVIDED} divided windows")
    assert len(pair.compared["Get Notification History"]) - before >= 20 * DIVIDED


def test_every_call_of_the_library_is_tested():
    """A call that a newer library adds is reported here as missing."""
    public = {name for name in vars(Library.__mro__[1]) if not name.startswith("_")}
    compared = {"get_notification_history", "extend_subscription_renewal_date"}
    for strategy in EVERY.values():
        called = []

        class Witness:
            def __getattr__(self, name, called=called):
                called.append(name)
                return lambda *_words: None

        generated(strategy, 1, lambda case, witness=Witness: case[0](witness()))
        compared |= set(called)
    assert public <= compared, public - compared


def test_thousands_of_requests_were_compared(pair):
    """The last test of the file: the others ran before it."""
    if len(pair.compared) < len(EVERY) + 2:
        pytest.skip("only a selection of the tests ran")
    total = sum(map(len, pair.compared.values()))
    print(f"{total} requests of {len(pair.compared)} calls mean the same")
    assert total >= (len(EVERY) + 2 - len(SINGLE)) * EXAMPLES and total >= 3000
