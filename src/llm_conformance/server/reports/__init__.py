"""Reports on a server: text for the terminal, the JSON report, and page, summary and badge made from the JSON.

Only `result`, `exchanges` and `terminal` see verdicts and recordings. The other modules see the JSON report.
"""
