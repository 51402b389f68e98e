"""How the documents of a stream are put into bytes: one module for each framing."""
