"""Compare each API's row of the provider table with the ways that recordings and scenarios show."""
