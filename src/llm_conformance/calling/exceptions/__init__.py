"""What is known of an exception of an adapter, as plain data."""
