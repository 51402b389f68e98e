"""Find and start the adapter under test."""
