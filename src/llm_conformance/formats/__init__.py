"""Wire formats: one folder each, with its schema, read rules, requests and generator."""
