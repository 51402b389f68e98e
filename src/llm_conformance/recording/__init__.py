"""Recording: cassettes of real responses, without secrets, and what a provider has changed since the last one.

A new recording is a proposal beside the present one until the user accepts it.
"""
