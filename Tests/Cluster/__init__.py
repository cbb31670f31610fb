"""The real executables on Redis Cluster and on Sentinel, each Redis a process of Debian's redis-server on this machine."""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
# Load, ledger and services are the fault test's, the report is the containers test's, the load generator is the benchmarks'.
for folder in (TESTS, TESTS / "SystemTests", TESTS / "Benchmarks"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
