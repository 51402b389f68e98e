"""Programs that speak the line protocol: the reference adapters as one, and some that break it."""
