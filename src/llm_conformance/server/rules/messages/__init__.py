"""The rules about messages alone."""
