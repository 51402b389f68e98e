"""Text completions: a prompt goes in, a text comes out. Each maker has its own shape of documents."""
