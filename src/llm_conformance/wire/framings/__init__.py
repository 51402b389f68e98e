"""Framings: how a stream puts its documents into bytes. One module for each."""
