"""How the documents of a stream are put into bytes: one module a framing."""
