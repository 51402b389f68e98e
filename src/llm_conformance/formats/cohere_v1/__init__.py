"""The wire format `cohere_v1`: the first chat API of Cohere."""
