"""How streams are cut into events: one module a framing, which knows nothing of the others.

framing              what an event is, and what the rest has to know of a framing
server_sent_events   events of lines with `data:`
json_lines           a JSON document on each line
"""
