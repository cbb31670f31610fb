"""The cost in Redis of counting deliveries for the console: the time of its commands, relative to the number of deliveries.

    PYTHONPATH=Tests:Deploy python3 -m Benchmarks.queue.counts_cost [--deliveries N] [--rate N]

Starts a system with Deploy/up, posts SKAdNetwork postbacks with different conversion values and source identifiers, and reads from Redis' slow log
the duration of each command that writes counts. `--rate` posts this number a second; without it, posts are sent at the maximum rate.
"""

import argparse
import itertools
import pathlib
import tempfile
import threading
import time
import uuid

from SystemTests.support.running_system import redis_words, start_system, stop_system

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--deliveries", type=int, default=3000)
parser.add_argument("--rate", type=float)
parser.add_argument("--sources", type=int, default=10_000, help="different source identifiers (default: 10000, all possible ones)")
options = parser.parse_args()
with tempfile.TemporaryDirectory() as data:
    system = start_system(pathlib.Path(data))
    try:
        bodies = [system.control("/control/skadnetwork/postbacks", {
            "transactionId": str(uuid.uuid4()), "adNetworkId": "example123.skadnetwork", "version": "4.0", "appId": 525463029,
            "sourceIdentifier": f"{number * 7 % options.sources:04d}", "conversionValue": number % 64, "send": False})["body"]
            for number in range(options.deliveries)]
        redis_words(system, "CONFIG", "SET", "slowlog-max-len", "1000000")
        redis_words(system, "CONFIG", "SET", "slowlog-log-slower-than", "0")
        redis_words(system, "SLOWLOG", "RESET")
        waiting, began = iter(bodies), time.monotonic()
        lock, numbers = threading.Lock(), itertools.count()

        def post() -> None:
            while True:
                with lock:
                    body = next(waiting, None)
                    number = next(numbers)
                if body is None:
                    return
                if options.rate:
                    time.sleep(max(0, began + number / options.rate - time.monotonic()))
                assert system.post("/v1/postbacks", body).status == 200

        threads = [threading.Thread(target=post) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - began

        def counted() -> int:
            periods = system.call("Verifier", "GetDeliveryCounts", {"period": "hour", "periods": 2})["periods"]
            return sum(int(one["count"]) for period in periods for one in period.get("counts", []) if one["kind"] == "skadnetwork-postback")

        until = time.monotonic() + 60
        while counted() < options.deliveries:
            assert time.monotonic() < until, counted()
            time.sleep(0.2)
        redis_words(system, "CONFIG", "SET", "slowlog-log-slower-than", "-1")
        words = redis_words(system, "EVAL", "local t = {} for _, e in ipairs(redis.call('SLOWLOG', 'GET', '-1')) do if string.find(e[4][2] or '', "
                            "':verifier:counts:', 1, true) and e[4][1] ~= 'HGETALL' then t[#t + 1] = e[3] end end return t", 0)
        times = [int(word) for word in words]
        print(f"{options.deliveries} deliveries in {seconds:.1f} s, {len(times)} commands, {sum(times)} microseconds of Redis' time: "
              f"{sum(times) / options.deliveries:.3f} a delivery")
    finally:
        stop_system(system)
