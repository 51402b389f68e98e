"""Reports on a server: text for the terminal, the JSON report, and what is made from it: page, summary, badge.

Only `result` and `terminal` see verdicts and recordings. The other modules see the JSON report.
"""
