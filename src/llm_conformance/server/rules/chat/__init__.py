"""The rules about chat completions alone."""
