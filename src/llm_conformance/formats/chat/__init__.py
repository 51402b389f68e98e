"""The wire format `chat`."""
