"""Recovery after an outage: the order in which notifications become events, how many are held, and which gaps Apple's retries close."""

import random
import statistics
import time

import pytest

from SystemTests.support.running_system import redis_words

from .system import APP, BARE, DAY, VERIFIED, make, outages, recovery_system, stamp, start, wait_for


@pytest.fixture
def feed(recovering):
    subscription = recovering.subscribe([VERIFIED])
    yield subscription
    subscription.delete()


def record_outage(system, first: int, last: int) -> None:
    """Records an outage in Redis, as ingest does with its first heartbeat after an outage."""
    instances, = redis_words(system, "--scan", "--pattern", "*:ingest:instances")
    redis_words(system, "ZADD", instances.replace(":instances", ":outages"), last, f"{first}-{last}")


def request_recovery(system, first: int, last: int) -> None:
    """Starts a recovery of a time range, as an operator does."""
    start(system, first / 1000, last / 1000, "Sandbox")


def order_after_an_outage(system, feed, disturb=None, begin=record_outage) -> list[str]:
    """Recovers an outage; returns the types of its notifications in the order of their events, each notification once. Fails unless all
    events come within 90 seconds: held notifications that nobody releases come after five minutes. `disturb` is a function and the number
    of accepted notifications after which it is called. `begin` starts the recovery."""
    first = int((time.time() - 6 * DAY - random.randrange(DAY)) * 1000)
    wanted = {}
    for index, (kind, more) in enumerate([("DID_CHANGE_RENEWAL_STATUS", {"subtype": "AUTO_RENEW_DISABLED"}), ("EXPIRED", {"subtype": "VOLUNTARY"}),
                                          ("DID_RENEW", {})]):
        for made in make(system, kind, "Sandbox", **more, count=200, brief=True, data=BARE, send=False, signedDate=first + index,
                         spreadMilliseconds=3_500_000)["notifications"]:
            wanted[made] = kind
    # The pages are slow, so that other work can come first.
    system.control("/control/faults", {"route": "notificationHistory", "percentage": 100, "delayMilliseconds": 400})
    came: dict[str, str] = {}
    try:
        begin(system, first, first + 3_600_000)
        if disturb is not None:
            call, accepted = disturb
            since = first / 1000 - 7200

            def has_accepted() -> bool:
                found = [one for one in outages(system, since, "Sandbox") if one["endDate"] <= stamp(first / 1000 + 7200)]
                return bool(found) and found[0].get("accepted", 0) >= accepted

            assert wait_for(has_accepted, seconds=60, every=0.05)
            call()
        until = time.monotonic() + 90
        while len(came) < len(wanted) and time.monotonic() < until:
            for event in feed.pull(most=1000, wait=1):
                one = event["data"]["payload"]["notificationUUID"]
                if one in wanted:
                    assert one not in came or came[one] == event["id"]
                    came.setdefault(one, event["id"])
    finally:
        system.control("/control/faults", {"clear": True})
    assert len(came) == len(wanted)
    return [wanted[one] for one in came]


def quarters_of(order: list[str]) -> dict[str, list[float]]:
    """The quartiles of each type's positions in the order: the types may overlap, because 256 shards are processed independently."""
    return {kind: statistics.quantiles([position for position, one in enumerate(order) if one == kind]) for kind in set(order)}


@pytest.mark.parametrize("leader_dies", [False, True], ids=["undisturbed", "the leader dies"])
def test_after_an_outage_renewals_are_published_first_then_expirations_then_the_rest(recovering, feed, leader_dies):
    def kill_leader():
        recovering.service("kill", "notification-recovery")
        recovering.service("start", "notification-recovery")

    quarters = quarters_of(order_after_an_outage(recovering, feed, (kill_leader, 150) if leader_dies else None))
    assert quarters["DID_RENEW"][2] < quarters["EXPIRED"][0], quarters
    assert quarters["EXPIRED"][1] < quarters["DID_CHANGE_RENEWAL_STATUS"][0], quarters


def test_a_large_range_that_an_operator_names_has_the_same_order(recovering, feed):
    quarters = quarters_of(order_after_an_outage(recovering, feed, begin=request_recovery))
    assert quarters["DID_RENEW"][2] < quarters["EXPIRED"][1] < quarters["DID_CHANGE_RENEWAL_STATUS"][1], quarters


def test_notifications_held_after_an_outage_are_released_even_if_redis_dies(recovering, feed):
    def kill_redis():
        recovering.service("kill", "redis")
        recovering.service("start", "redis")

    assert len(order_after_an_outage(recovering, feed, (kill_redis, 590))) == 600


def assert_recoveries_run_one_at_a_time(system) -> None:
    """Checks that a system with `mostRunning: 1` refuses a second recovery, and that an idempotency key is valid for a day only."""
    now = time.time()

    def begin(key: str, days: int):
        return system.rpc("Recovery", "StartRecovery", {"bundleId": APP, "environment": "Production", "startDate": stamp(now - days * DAY),
                                                        "endDate": stamp(now - days * DAY + 60)}, key=key)

    system.control("/control/faults", {"route": "notificationHistory", "percentage": 100, "delayMilliseconds": 20_000})
    # A recovery that the schedule started may still run.
    first = wait_for(lambda: answer if (answer := begin("a-key", 40)).status == 200 else None)
    assert first, begin("a-key", 40)
    refused = begin("another-key", 50)
    assert refused.status == 429 and "TOO_MANY_RECOVERIES" in refused.body.decode(), refused
    system.call("Recovery", "CancelRecovery", {"recoveryId": first.json["recoveryId"]})
    # The answers for idempotency keys expire after a day; the test deletes them. Then the same key may start another recovery.
    for name in redis_words(system, "--scan", "--pattern", "*:rpc:*"):
        redis_words(system, "DEL", name)
    second = wait_for(lambda: answer if (answer := begin("a-key", 60)).status == 200 else None)
    assert second, begin("a-key", 60)
    assert second.json["recoveryId"] != first.json["recoveryId"]


def test_held_notifications_and_running_recoveries_are_limited(tmp_path_factory):
    with recovery_system(tmp_path_factory.mktemp("held"), more="  heldBacklog: 150\n  mostRunning: 1\n") as system:
        subscription = system.subscribe([VERIFIED])
        # Only 150 notifications can be held. The outage is nevertheless recovered completely.
        assert len(order_after_an_outage(system, subscription)) == 600
        assert next(queue for queue in system.call("Queues", "ListQueues", {})["queues"] if queue["name"] == "intake").get("delayed", 0) == 0
        assert_recoveries_run_one_at_a_time(system)


def test_a_gap_in_an_outage_is_left_to_apples_retries_until_an_hour_after_its_end(recovering):
    end = int(time.time() * 1000)
    record_outage(recovering, end - 2500, end)
    story = recovering.control("/control/notifications/story", {
        "bundleId": APP, "environment": "Production", "send": True, "steps": ["buy", {"step": "cancel", "send": False}, "expire"]})

    def looked_up():
        calls = recovering.control("/control/app-store-calls?limit=1000000")["calls"]
        return [call["atMilliseconds"] for call in calls
                if call["path"].endswith("/inApps/v1/subscriptions/" + story["originalTransactionId"])]

    first, = wait_for(looked_up, seconds=60)
    # An hour of Apple's schedule is ten seconds.
    assert first >= end + 10_000, (first - end)
