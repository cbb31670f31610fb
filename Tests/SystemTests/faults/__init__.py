"""Services and Redis are killed, stopped and disconnected under load, and all deliveries are accounted for."""
