"""What a release build reaches. `run` runs the suites, the files named `*_bench.py`."""
