"""A process of the Apple simulator beside the running system, for tests that need its command line options or their own state."""

import http.client
import http.server
import json
import pathlib
import ssl
import subprocess
import time

from .running_system import BUILD, ROOT

BUNDLE, APP_ID, ISSUER, KEY_ID = "com.example.app", 525463029, "57246542-96fe-1a63-e053-0824d011072a", "2X9R4HXF34"


class Simulator:
    """Starts a simulator on a free port; `state` is the folder of its keys and answers. `facts` is what it writes to simulator.json."""

    def __init__(self, state: pathlib.Path, *options: str) -> None:
        self.state = state
        with state.with_suffix(".log").open("ab") as log:
            self.process = subprocess.Popen(
                [ROOT / ".build" / BUILD / "apple-simulator", "--listen", "127.0.0.1:0", "--state", state, *options], stderr=log)
        self.facts = {}
        until = time.monotonic() + 20
        while self.facts.get("pid") != self.process.pid and time.monotonic() < until:
            time.sleep(0.05)
            if (state / "simulator.json").exists():
                self.facts = json.loads((state / "simulator.json").read_text())
        assert self.facts.get("pid") == self.process.pid, "the simulator did not start"
        self.context = ssl.create_default_context(cafile=str(state / "tls-ca.pem"))

    def control(self, path: str, body: dict | None = None) -> dict:
        connection = http.client.HTTPSConnection("127.0.0.1", self.facts["port"], context=self.context, timeout=30)
        connection.request("GET" if body is None else "POST", "/control/" + path, None if body is None else json.dumps(body))
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        assert response.status == 200, (path, response.status, answer)
        return json.loads(answer)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)
