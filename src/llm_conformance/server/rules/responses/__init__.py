"""The rules about responses alone."""
