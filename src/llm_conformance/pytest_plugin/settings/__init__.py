"""The settings of a run: the checked options, and everything that they name, loaded."""
