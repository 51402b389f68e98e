"""Text completions: a prompt goes in, a text comes out. Their makers have documents of their own shapes."""
