"""Every request to the public port is answered in time, also while Redis does not answer."""

import json
import os
import signal
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from SystemTests.support.http2_connection import REQUEST, HTTP2Connection
from SystemTests.support.ingest_process import IngestProcess

from .edge import postback


def test_requests_are_answered_within_five_seconds_while_redis_hangs(system, tmp_path):
    """With the status after which their sender retries; the delivery itself may have been stored."""
    notification = json.dumps({"signedPayload": uuid.uuid4().hex}).encode()
    with IngestProcess(system, tmp_path, {}) as edge, HTTP2Connection(edge.port) as http2:
        assert edge.post("/v1/app-store/notifications", json.dumps({"signedPayload": uuid.uuid4().hex}).encode())[0] == 200
        # The form of the store was read more than a second ago, so a request reads it again before it is accepted.
        time.sleep(1.1)
        redis = system.pid("redis")
        os.kill(redis, signal.SIGSTOP)
        try:
            started = time.monotonic()
            http2.send(http2.request(1, postback(), REQUEST))
            with ThreadPoolExecutor() as pool:
                posts = [pool.submit(edge.post, "/v1/app-store/notifications", body)
                         for body in (notification, json.dumps({"signedPayload": uuid.uuid4().hex}).encode())]
                posts.append(pool.submit(edge.post, "/v1/postbacks", postback()))
                answers = [post.result() for post in posts]
            assert http2.status(1) == 500
            assert 4 < time.monotonic() - started < 5.5
        finally:
            os.kill(redis, signal.SIGCONT)
        assert [status for status, _ in answers] == [503, 503, 500], answers
        assert all(b"NOT_ANSWERED_IN_TIME" in body for _, body in answers), answers
        # The sender repeats it. Only the late response of each request was counted.
        assert edge.post("/v1/app-store/notifications", notification)[0] == 200
        assert edge.metric('attribution_public_requests_total{status="503"}') == 2
        assert edge.metric('attribution_public_requests_total{status="500"}') == 2
        assert edge.metric('attribution_public_requests_total{status="200"}') == 2
