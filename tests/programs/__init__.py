"""Programs that speak the line protocol."""
