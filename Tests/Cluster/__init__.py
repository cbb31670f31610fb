"""The real executables on Redis Cluster and on Sentinel, each Redis a process of Debian's redis-server on this machine.

Load, ledger and services are those of the fault test, the report is that of the containers test, the load generator that of the benchmarks.
"""
