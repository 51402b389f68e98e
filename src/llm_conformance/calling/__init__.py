"""One call of an adapter's method: make it, watch it, and give back plain data."""
