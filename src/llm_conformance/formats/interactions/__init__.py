"""The wire format `interactions`."""
