"""Generated inputs: what providers may send next, for an adapter that copes with what they have sent so far.

Everything here is a Hypothesis strategy, and can be used in other people's tests:

    chance        the small choices that all of them make
    texts         answers and reasoning from disjoint alphabets, with what splitters trip over
    think         texts with reasoning between think tags, under each think profile
    counts        token counts by a provider's algebra
    answers       blocks, citations, tool calls, finish words: an answer in no format yet
    wires         the formats in which an answer is written, JSON and stream
    framing       server-sent events, and what may stand between them
    conversation  request, answer and truth together
    faults        statuses, spoilt bodies, broken streams and connections
    turns         a second turn, in which reasoning goes back
    cuts          ways to cut a stream
    themes        all of it put together as scenarios, by row of the provider table

What is expected always comes from what was drawn, never from reading the bytes back.
"""
