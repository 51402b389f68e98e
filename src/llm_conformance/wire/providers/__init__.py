"""The provider table: what is true of a provider, one TOML file each."""
