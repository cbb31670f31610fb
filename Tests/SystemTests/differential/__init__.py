"""What the differential test holds the verifier to. Nothing here shares a line with the product."""
