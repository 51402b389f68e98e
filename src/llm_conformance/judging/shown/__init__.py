"""What is shown of a failure: the exchange, the text for its author, and what the adapter may have missed."""
