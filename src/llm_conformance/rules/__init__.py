"""The vocabulary of rules: the exchange that they judge, and how they report what is wrong with it."""
