"""The calls that recorded requests make."""
