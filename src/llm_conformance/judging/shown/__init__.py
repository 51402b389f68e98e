"""What is shown of a failure: the exchange, a text for the adapter's author, and a value that the adapter missed."""
