"""Starts and ends what the tests run: whole systems, single services, the simulator, Prometheus; and connections to them."""
