"""For every call of Apple's library for Python, the requests of the library and those of the service mean the same: method,
path, query, body, and the bearer token's claims. Hypothesis generates the cases and minimises failures. ATTRIBUTION_SOAK=1: thousands of each.

For the Advanced Commerce API the library has bodies and no calls, so its send function is used with Apple's documented paths. For external
purchases it has nothing: Apple's documented examples are in test_external_purchases.py.
"""

import os
import shutil

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
from .library import Capture, Library

SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
EXAMPLES = 1000 if SOAK else 12
# Without the rate limits that services observe for Apple, because the called server is not Apple's.
RATES = "\nrecovery: {{ rates: {{ {rates} }} }}\n"

EVERY = {**CALLS, **COMMERCE}


class Pair:
    """The service and Apple's library."""

    def __init__(self, system, base: str, capture: Capture, library: Library, purchase: str):
        self.system, self.base, self.capture, self.library, self.purchase = system, base, capture, library, purchase
        # The number of compared cases.
        self.cases = 0
        self.public_key = load_pem_private_key((system.data / "SubscriptionKey.p8").read_bytes(), None).public_key() \
            if (system.data / "SubscriptionKey.p8").exists() else None

    def ours(self, service: str, method: str, message: dict):
        before = len(self.capture.requests)
        answer = self.system.rpc(service, method, {"bundleId": APP, "environment": "Production", **message}, key=new_id(), base=self.base)
        made = self.capture.requests[before:]
        assert len(made) == 1, (method, answer, made)
        return made[0]


@pytest.fixture(scope="module")
def pair(system):
    capture = Capture()
    try:
        configuration = yaml.safe_load((system.data / "configuration.yaml").read_text())
        app = next(one for one in configuration["apps"] if one["bundleId"] == APP)["appStoreServer"]
        key = (system.data / app["privateKey"]).read_bytes()
        library = Library(key, app["keyId"], app["issuerId"], APP)
        # To extend a renewal date, the service first queries the end of the subscription.
        purchase = story(system, "buy")["originalTransactionId"]
        status = system.call("Recovery", "GetSubscriptionStatuses", {"bundleId": APP, "environment": "Production", "transactionId": purchase})
        capture.answers["GET", f"/inApps/v1/subscriptions/{purchase}"] = status["response"]
        own = system.data / "unlimited.yaml"
        shutil.copy(system.data / "configuration.yaml", own)
        with own.open("a") as file:
            file.write(RATES.format(rates=", ".join(f"{name}: 1000" for name in ENDPOINTS)))
        more = "\n".join(f"export ATTRIBUTION_APP_STORE_{server}_URL={capture.url}" for server in ("PRODUCTION", "SANDBOX"))
        with second_instance(system, "notification-recovery", f"{more}\nexport ATTRIBUTION_CONFIG={own}") as base:
            found = Pair(system, base, capture, library, purchase)
            found.public_key = load_pem_private_key(key, None).public_key()
            yield found
    finally:
        capture.close()


def agree(pair: Pair, case) -> None:
    ask, service, method, message = case
    apple, ours = pair.library.request(ask), pair.ours(service, method, message)
    if "revoked" in apple.query:
        # The library writes Python's form; Apple's pages and its library for Swift write JSON's (decision 23).
        apple.query["revoked"] = [text.lower() for text in apple.query["revoked"]]
    assert ours.meaning() == apple.meaning()
    pair.cases += 1
    (their_header, their_claims), (header, claims) = apple.claims(pair.public_key), ours.claims(pair.public_key)
    assert header == their_header
    assert {name: claims[name] for name in ("iss", "aud", "bid")} == {name: their_claims[name] for name in ("iss", "aud", "bid")}
    # Apple's pages require `iat`, which the library omits; a lifetime of more than an hour is refused.
    assert set(claims) == set(their_claims) | {"iat"} and 0 < claims["exp"] - claims["iat"] <= 3600


@pytest.mark.filterwarnings("ignore:send_consumption_data")
@pytest.mark.parametrize("name", EVERY)
def test_requests_are_equivalent_to_those_of_apples_library(pair, name):
    @settings(max_examples=EXAMPLES, deadline=None, derandomize=not SOAK, database=None, phases=[Phase.explicit, Phase.generate, Phase.shrink],
              suppress_health_check=list(HealthCheck))
    @given(EVERY[name])
    def compared(case):
        agree(pair, case)

    before = pair.cases
    compared()
    print(f"{name}: {pair.cases - before} cases mean the same")


@settings(max_examples=EXAMPLES, deadline=None, derandomize=not SOAK, database=None, suppress_health_check=list(HealthCheck))
@given(days=st.integers(1, 90), reason=st.sampled_from(list(ExtendReasonCode)), id=texts(64))
def test_the_extension_of_one_subscription_is_equivalent(pair, days, reason, id):
    id = f"{new_id()} {id}"
    body = ExtendRenewalDateRequest(extendByDays=days, extendReasonCode=reason, requestIdentifier=id)
    agree(pair, (lambda apple: apple.extend_subscription_renewal_date(pair.purchase, body), "Recovery", "ExtendSubscriptionRenewalDate",
                 {"originalTransactionId": pair.purchase, "extendByDays": days, "extendReasonCode": int(reason), "requestIdentifier": id}))


def test_every_call_of_the_library_is_tested():
    """A call that only a newer library has is reported as missing here."""
    public = {name for name in vars(Library.__mro__[1]) if not name.startswith("_")}
    compared = {"get_notification_history"}  # its windows are cut into slices: ServerAPIRequestTests
    compared |= {"extend_subscription_renewal_date"}
    for strategy in EVERY.values():
        asked = []

        class Witness:
            def __getattr__(self, name, asked=asked):
                asked.append(name)
                return lambda *_words: None

        @settings(max_examples=1, database=None, deadline=None, suppress_health_check=list(HealthCheck))
        @given(strategy)
        def look(case):
            case[0](Witness())

        look()
        compared |= set(asked)
    assert public <= compared, public - compared
