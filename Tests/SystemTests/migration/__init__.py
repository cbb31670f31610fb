"""Migration of receipts."""
