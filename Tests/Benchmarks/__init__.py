"""Benchmarks of a release build. `run` runs the suites, the files named `*_bench.py`."""
