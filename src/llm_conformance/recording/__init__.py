"""Record cassettes of real responses without secrets, and show what a provider has changed since the last recording.

A new recording is a proposal beside the present recording until the user accepts it.
"""
