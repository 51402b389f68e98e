"""One call of an adapter's method: make the call, watch it, and return plain data."""
