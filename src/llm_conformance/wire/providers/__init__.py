"""The provider table: one TOML file for each provider."""
