"""Wire formats: one folder each, with its schema, read rules, requests, variations, generator and recogniser."""
