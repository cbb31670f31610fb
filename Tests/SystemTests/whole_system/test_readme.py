"""The first steps of README.md, on a system of Deploy/up."""

import os
import socket
import subprocess
import sys
import threading
import uuid

from SystemTests.support.running_system import ROOT


def test_events_are_pushed_to_a_receiver_of_three_lines_on_this_machine(system):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    made = system.call("Events", "CreateSubscription", {
        "name": "newcomer", "types": ["attribution.skadnetwork.postback.verified.v1"], "start": "beginning",
        "push": {"url": f"http://127.0.0.1:{port}/"}})
    # As in README, no receiver listens yet when the subscription is created.
    receiver = subprocess.Popen([sys.executable, ROOT / "Examples" / "receiver" / "receiver.py", str(port)], stdout=subprocess.PIPE,
                                text=True, env={**os.environ, "ATTRIBUTION_WEBHOOK_SECRET": made["secret"]})
    # Without a timeout, the test would wait forever for a missing line.
    timer = threading.Timer(120, receiver.kill)
    timer.start()
    try:
        posted = subprocess.run(
            ["curl", "-s", f"{system.public}/v1/postbacks", "-H", "Content-Type: application/json", "-d",
             f"@{ROOT / 'Deploy' / 'genuine-postback.json'}"], capture_output=True, text=True, check=True)
        assert '"id"' in posted.stdout, posted.stdout
        # Other tests of this system have their own events.
        wanted = "skadnetwork:com.example:6aafb7a5-0170-41b5-bbe4-fe71dedf1e30:0 attribution.skadnetwork.postback.verified.v1"
        assert any(line.strip() == wanted for line in receiver.stdout), "it was not pushed"
    finally:
        timer.cancel()
        receiver.kill()
        receiver.wait()
        system.call("Events", "DeleteSubscription", {"name": "newcomer"}, key=uuid.uuid4().hex)
