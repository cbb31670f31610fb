"""The composed system under test: the real images and the real compose file, used through the balancer's published ports only.

The requests of the fault tests, the benchmarks' load by wrk, and the client of Deploy/demo are used here unchanged.
"""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
