"""The rules about Ollama's chat alone."""
