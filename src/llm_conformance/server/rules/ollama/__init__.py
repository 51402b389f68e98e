"""The rules about Ollama's chat only."""
