"""The settings of a run: the options, checked, and everything that they name, loaded."""
