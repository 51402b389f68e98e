"""The pytest plugin, nothing else."""
