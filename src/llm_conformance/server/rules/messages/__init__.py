"""The rules about messages only."""
