"""The wire format `responses`."""
