"""The wire format `cohere`."""
