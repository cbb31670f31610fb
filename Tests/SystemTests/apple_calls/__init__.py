"""Calls to Apple that callers ask for by RPC, and the simulator that answers them."""
