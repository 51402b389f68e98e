"""Ways out to the network, and what each isolation does about them."""
