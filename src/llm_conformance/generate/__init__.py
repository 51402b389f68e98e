"""Generated inputs: answers that providers may send, beyond those that were recorded.

Everything here is a Hypothesis strategy or draws from one. Other projects can use it in their tests:

    chance       the small choices that generators make
    texts        answers and reasoning, from disjoint alphabets, with pieces that are hard to split
    think        texts with reasoning between think tags, for each think profile
    counts       token counts, and the canonical counts that follow from them
    answers      blocks, citations, tool calls, finish words: an answer in no format yet
    generator    the interface of generators, which write an answer in a wire format (`formats/*/generator.py`)
    blocks       a generator for formats in which an answer is a list of blocks
    framing      the bytes of bodies and streams, and where they may be cut
    writing      how providers put documents into bytes: escapes, line ends, comments, white space

`llm_conformance.themes` makes scenarios of these inputs.

The expected values always come from what was drawn, never from reading the bytes back.
"""
