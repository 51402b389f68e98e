"""Call an adapter against recorded bytes, fenced in."""
