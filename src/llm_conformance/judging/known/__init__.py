"""What files of known deviations are made of: links, messages, globs and entries."""
