"""The example readers in Examples/ read a feed as their documentation describes."""

import random
import subprocess
import sys

import pytest

from SystemTests.faults.load import Maker

from .readers import EVENTS, ROOT, consumer_environment, feed_system, named, post, swift_consumer, wait_for_events


@pytest.fixture(scope="module")
def feed(tmp_path_factory):
    """A system with five events."""
    maker = Maker(random.Random(24))
    with feed_system(tmp_path_factory.mktemp("examples"), maker) as system:
        post(system, *[maker.postback() for _ in range(5)])
        wait_for_events(system, 5)
        yield system


COMMANDS = {
    "swift": lambda: [swift_consumer()],
    "python": lambda: [sys.executable, ROOT / "Examples" / "python" / "consumer.py"],
    "shell": lambda: [ROOT / "Examples" / "shell" / "consumer"],
}


@pytest.mark.parametrize("language", COMMANDS)
def test_an_example_reads_each_event_once_and_acknowledges_it(feed, language, tmp_path):
    verifier = named(feed, "verifier")[0]
    expected = sorted(f"{event['id']} {event['type']} {event['subject']}" for event in feed.events())
    assert len(expected) == 5
    run = subprocess.run([*COMMANDS[language](), language, "--events", "5"], capture_output=True, text=True, timeout=60,
                         env=consumer_environment(verifier, tmp_path), check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    assert sorted(run.stdout.splitlines()) == expected
    subscription = verifier.call(EVENTS, "GetSubscription", {"name": language})["subscription"]
    assert int(subscription.get("backlog", 0)) == 0


@pytest.mark.parametrize("language", COMMANDS)
def test_an_example_reports_an_error_and_ends(feed, language, tmp_path):
    command = COMMANDS[language]()
    run = subprocess.run([*command, "not a name"], capture_output=True, text=True, timeout=60,
                         env=consumer_environment(named(feed, "verifier")[0], tmp_path), check=False)
    assert run.returncode != 0 and "name" in run.stderr
