"""The feed from the view of its readers: filters, the beginning of a subscription, changed leases, seeking, and how dropped events are
reported."""

import random
import time

import pytest

from SystemTests.faults.load import Maker

from .readers import EVENTS, NOTIFICATION, POSTBACK, feed_system, named, post, wait_for_events


@pytest.fixture(scope="module")
def feed(tmp_path_factory):
    """A verifier whose feed has two postbacks, then two notifications of one purchase, then the event about a missing one between them."""
    maker = Maker(random.Random(7))
    with feed_system(tmp_path_factory.mktemp("feed"), maker) as system:
        post(system, maker.postback(), maker.postback())
        wait_for_events(system, 2)
        time.sleep(0.01)
        post(system, maker.notification("1"), maker.notification("1"))
        # The gap is reported shortly after the notifications that show it.
        system.all = wait_for_events(system, 5)
        yield system


def verifier(system):
    return named(system, "verifier")[0]


def make(system, name: str, types: list[str] = (POSTBACK, NOTIFICATION), **fields) -> dict:
    """Without the events about the purchase's history, unless they are requested."""
    return verifier(system).call(EVENTS, "CreateSubscription", {"name": name, "types": list(types), **fields})["subscription"]


def pull(system, name: str, most: int = 100, lease: int = 600) -> list[dict]:
    return verifier(system).call(EVENTS, "PullEvents", {"subscription": name, "maxEvents": most, "leaseSeconds": lease}).get("events", [])


def ids(pulled: list[dict]) -> set[str]:
    return {item["event"]["id"] for item in pulled}


def of_type(system, *types: str) -> set[str]:
    return {event["id"] for event in system.all if event["type"] in types}


@pytest.mark.parametrize("filter, types", [
    ({"adNetworkIds": ["example123.skadnetwork"]}, [POSTBACK]),
    ({"adNetworkIds": ["other.skadnetwork"]}, []),
    # Each name of the app also selects events with the other name, because the configuration has both.
    ({"apps": ["com.example.app"]}, [POSTBACK, NOTIFICATION]),
    ({"apps": ["525463029"], "environments": ["production"]}, [POSTBACK, NOTIFICATION]),
    ({"environments": ["sandbox", "development"]}, []),
    ({"apps": ["com.example.app"], "adNetworkIds": ["example123.skadnetwork"]}, [POSTBACK]),
])
def test_a_filter_passes_events_that_match_all_its_lists(feed, filter, types):
    name = f"filter-{random.getrandbits(48):x}"
    made = make(feed, name, filter=filter)
    assert made["filter"] == {name: sorted(values) for name, values in filter.items()}
    assert ids(pull(feed, name)) == of_type(feed, *types)
    assert int(verifier(feed).call(EVENTS, "GetSubscription", {"name": name})["subscription"].get("backlog", 0)) == len(of_type(feed, *types))


def test_a_subscription_begins_at_a_time_or_an_event(feed):
    first = min((event for event in feed.all if event["type"] == NOTIFICATION), key=lambda event: event["time"])
    # An event's time is that of its creation, shortly before that of its publication.
    assert make(feed, "at-time", startTime=first["time"])["start"] == "time"
    assert ids(pull(feed, "at-time")) == of_type(feed, NOTIFICATION)
    made = make(feed, "at-event", startEventId=first["id"])
    assert (made["start"], made["startEventId"]) == ("event", first["id"])
    assert ids(pull(feed, "at-event")) == of_type(feed, NOTIFICATION)
    assert make(feed, "at-event", startEventId=first["id"])["createdAt"] == made["createdAt"]
    status, answer = verifier(feed).rpc(EVENTS, "CreateSubscription", {"name": "at-event", "types": made["types"], "start": "now"})
    assert (status, answer["code"]) == (409, "already_exists")
    status, answer = verifier(feed).rpc(EVENTS, "CreateSubscription", {"name": "at-none", "startEventId": "none"})
    assert (status, answer["code"]) == (404, "not_found") and "startEventId" in str(answer["details"])


def test_a_lease_is_extended_or_given_back(feed):
    make(feed, "leases")
    leased = pull(feed, "leases", lease=2)
    assert len(leased) == 4
    change = lambda items, seconds: verifier(feed).call(EVENTS, "ModifyLease", {  # noqa: E731
        "subscription": "leases", "ackIds": [item["ackId"] for item in items], "leaseSeconds": seconds}).get("modified", 0)
    assert change(leased[:1], 600) == 1 and change(leased[1:2], 0) == 1
    assert ids(pull(feed, "leases")) == ids(leased[1:2])
    time.sleep(2.1)
    assert ids(pull(feed, "leases")) == ids(leased[2:])
    assert verifier(feed).call(EVENTS, "AcknowledgeEvents", {"subscription": "leases", "ackIds": [i["ackId"] for i in leased]})["acknowledged"] == 4
    assert change(leased, 10) == 0


def test_a_subscription_seeks_back_and_forward(feed):
    make(feed, "sought")
    leased = pull(feed, "sought")
    seek = lambda **place: verifier(feed).call(EVENTS, "SeekSubscription", {"subscription": "sought", **place})["subscription"]  # noqa: E731
    assert int(seek(time="1970-01-01T00:00:00Z")["backlog"]) >= 4
    assert verifier(feed).call(EVENTS, "AcknowledgeEvents", {
        "subscription": "sought", "ackIds": [item["ackId"] for item in leased]}).get("acknowledged", 0) == 0
    assert ids(pull(feed, "sought")) == ids(leased)
    last = max((event for event in feed.all if event["type"] == NOTIFICATION), key=lambda event: event["time"])
    assert int(seek(eventId=last["id"])["backlog"]) >= 1
    assert last["id"] in ids(pull(feed, "sought"))
    assert int(seek(end=True).get("backlog", 0)) == 0 and not pull(feed, "sought")


def test_in_an_ordered_subscription_an_event_waits_for_the_earlier_one(feed):
    assert make(feed, "ordered", types=[NOTIFICATION], ordered=True)["ordered"] is True
    first = pull(feed, "ordered", most=1)
    assert len(first) == 1 and not pull(feed, "ordered")
    verifier(feed).call(EVENTS, "AcknowledgeEvents", {"subscription": "ordered", "ackIds": [first[0]["ackId"]]})
    second = pull(feed, "ordered")
    assert [item["event"]["id"] for item in first + second] == [event["id"] for event in feed.all if event["type"] == NOTIFICATION]


@pytest.mark.parametrize("method, message, field", [
    ("CreateSubscription", {"name": "x", "start": "now", "startTime": "2026-01-01T00:00:00Z"}, "start"),
    ("CreateSubscription", {"name": "x", "startEventId": "a", "startTime": "2026-01-01T00:00:00Z"}, "startEventId"),
    ("CreateSubscription", {"name": "x", "startEventId": ""}, "startEventId"),
    ("CreateSubscription", {"name": "x", "start": "time"}, "start"),
    ("CreateSubscription", {"name": "x", "filter": {"environments": ["Production"]}}, "filter.environments[0]"),
    ("CreateSubscription", {"name": "x", "filter": {"apps": ["a", ""]}}, "filter.apps[1]"),
    ("CreateSubscription", {"name": "x", "filter": {"apps": ["a" * 256]}}, "filter.apps[0]"),
    ("CreateSubscription", {"name": "x", "filter": {"adNetworkIds": [str(i) for i in range(101)]}}, "filter.adNetworkIds"),
    ("ModifyLease", {"subscription": "x", "ackIds": ["1.1-1"]}, "leaseSeconds"),
    ("ModifyLease", {"subscription": "x", "ackIds": ["1.1-1"], "leaseSeconds": 3601}, "leaseSeconds"),
    ("ModifyLease", {"subscription": "x", "ackIds": ["1.1-1"], "leaseSeconds": -1}, "leaseSeconds"),
    ("ModifyLease", {"subscription": "x", "leaseSeconds": 1}, "ackIds"),
    ("SeekSubscription", {"subscription": "x"}, "time"),
    ("SeekSubscription", {"subscription": "x", "end": True, "eventId": "a"}, "time"),
    ("SeekSubscription", {"subscription": "x", "eventId": ""}, "eventId"),
    ("GetSubscription", {}, "name"),
])
def test_bad_input_is_refused_by_the_name_of_its_field(feed, method, message, field):
    status, answer = verifier(feed).rpc(EVENTS, method, message)
    assert (status, answer["code"]) == (400, "invalid_argument")
    assert f"{field}:" in answer["message"], answer


@pytest.mark.parametrize("method, message", [
    ("GetSubscription", {"name": "none"}), ("ModifyLease", {"subscription": "none", "ackIds": ["1.1-1"], "leaseSeconds": 1}),
    ("SeekSubscription", {"subscription": "none", "end": True})])
def test_an_unknown_subscription_is_not_found(feed, method, message):
    status, answer = verifier(feed).rpc(EVENTS, method, message)
    assert (status, answer["code"]) == (404, "not_found")


def test_the_longest_lists_and_leases_are_accepted(feed):
    make(feed, "long", filter={"apps": ["a" * 255] + [str(i) for i in range(99)]})
    assert not pull(feed, "long")
    verifier(feed).call(EVENTS, "ModifyLease", {"subscription": "long", "ackIds": ["1.1-1"], "leaseSeconds": 3600})


def test_lost_events_are_reported_on_the_feed_and_in_metrics(tmp_path):
    maker = Maker(random.Random(9))
    with feed_system(tmp_path, maker, queues="{ subscriptionBacklog: 5 }") as system:
        make(system, "unread", types=[POSTBACK])
        make(system, "told", types=["attribution.feed.subscription.lagging.v1", "attribution.feed.subscription.dropped.v1"])
        post(system, *[maker.postback() for _ in range(20)])
        wait_for_events(system, 20)
        until = time.monotonic() + 90
        notices: list[dict] = []
        while not any(event["type"].endswith("dropped.v1") for event in notices):
            assert time.monotonic() < until
            notices += [item["event"] for item in pull(system, "told")]
            time.sleep(0.2)
        notice = next(event for event in notices if event["type"].endswith("dropped.v1"))
        assert notice["data"]["subscription"] == "unread" and notice["data"]["reason"] == "backlog"
        assert notice["data"]["backlog"] > 5 and notice["data"]["droppedBefore"] == 0
        get = lambda: verifier(system).call(EVENTS, "GetSubscription", {"name": "unread"})["subscription"]  # noqa: E731
        while not int(get().get("dropped", 0)):
            assert time.monotonic() < until
            time.sleep(0.2)
        time.sleep(1)
        # The backlog may also count notices that the subscription does not want and has not skipped yet.
        lost, kept = int(get()["dropped"]), len(pull(system, "unread"))
        assert lost + kept == 20 and lost >= notice["data"]["backlog"] - 5
        assert verifier(system).metric("attribution_feed_dropped_total") == lost
        assert verifier(system).metric("attribution_feed_backlog") > 0
