"""Compare the ways that recordings and scenarios show with each API's row of the provider table."""
