"""Reports: the result of a run as a document, and that document as a page, a summary, a badge, joined and compared."""
