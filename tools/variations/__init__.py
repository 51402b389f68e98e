"""What recordings and scenarios show of the ways of each API, compared with its row of the provider table."""
