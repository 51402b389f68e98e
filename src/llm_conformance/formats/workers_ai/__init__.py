"""The wire format `workers_ai`."""
