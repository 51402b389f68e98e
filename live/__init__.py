"""A real server with a real model, to be recorded: the only provider that needs no key."""
