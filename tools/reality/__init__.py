"""Find what providers have sent in recordings and no scenario has, and the reverse."""
