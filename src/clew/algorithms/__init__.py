"""Algorithms on arrays, with no word of retrieval: what two stages share, or what is worth compiling."""
