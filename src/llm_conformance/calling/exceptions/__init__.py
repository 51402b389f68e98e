"""Read an adapter's exceptions as plain data."""
