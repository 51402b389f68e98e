"""The forms in which people read a report: Markdown, an HTML page, and a badge."""
