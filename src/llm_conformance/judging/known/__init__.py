"""The parts of files of known deviations: links, messages, globs and entries."""
