"""Starts and stops the processes of the tests: whole systems, single services, the simulator, Prometheus; and connections to them."""
