"""The wire format `ollama`."""
