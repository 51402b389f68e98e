"""The pytest plugin. All code that knows pytest is here."""
