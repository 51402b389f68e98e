"""The wire format `messages`."""
