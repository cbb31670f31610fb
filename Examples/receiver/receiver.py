#!/usr/bin/env python3
"""Receives pushed events and verifies them: receiver.py PORT, with the subscription's secret in ATTRIBUTION_WEBHOOK_SECRET.

pip install standardwebhooks"""

import http.server
import os
import sys

from standardwebhooks import Webhook


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        # The three lines: verified, worked, taken. What cannot be verified raises, and is answered nothing.
        event = Webhook(os.environ["ATTRIBUTION_WEBHOOK_SECRET"]).verify(body, dict(self.headers))
        print(event["id"], event["type"], flush=True)
        self.send_response(204), self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
