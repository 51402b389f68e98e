"""The rules about responses only."""
