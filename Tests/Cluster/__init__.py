"""The real executables on Redis Cluster and on Sentinel. Each Redis is a process of Debian's redis-server on this machine.

Load, ledger and services are those of the fault test, the report is that of the containers test, the load generator is the benchmarks'.
"""
