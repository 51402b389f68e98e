"""The wire format `gemini`."""
