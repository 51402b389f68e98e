"""Recording: making cassettes of real answers, keeping secrets out of them, and seeing what a provider has changed.

A new recording is a proposal beside the old one until somebody has looked at it and accepts it.
"""
