"""The composed system under test: the real images and the real compose file, used through the balancer's published ports only.

What the fault tests send, the benchmarks' load by wrk, and the client of Deploy/demo are used here as they are.
"""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
