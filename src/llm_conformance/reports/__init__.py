"""Reports: the result of a run as JSON, and what is made from the JSON: a page, a summary, a badge, a comparison.

Only `result` knows how the suite runs. The other modules load without Hypothesis, vcrpy and the replay server.
"""
