"""Reports: the result of a run as JSON, and a page, a summary, a badge and a comparison made from that JSON.

Only `result` knows how the suite runs. The other modules load without Hypothesis, vcrpy and the replay server.
"""
