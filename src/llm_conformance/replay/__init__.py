"""Call an adapter against recorded responses, with no other way out to the network."""
