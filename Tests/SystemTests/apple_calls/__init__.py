"""Calls to Apple that callers request by RPC, and the simulator that answers them."""
