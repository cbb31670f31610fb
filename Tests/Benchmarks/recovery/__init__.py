"""Recovery of notifications, and migration of receipts."""
