"""Judge a server that claims to speak a provider's wire format: compare its bytes with the documentation.

    plan            which conversations are asked, as which requests
    client          send them, one after the other; nothing is sent to another host
    recordings      keep what came back, without keys; read it again
    exchange        what a rule sees of one request and its answer
    rules/          the rules, one function each
    judge           rules times exchanges give verdicts
    reports/        the text for the terminal, the JSON report, and what is made from it

Verdicts come from the kept recordings only, so a recording gives the same verdicts as the server itself.
"""
