"""Algorithms on arrays, with no word of retrieval.

Two stages share them, or they are worth compiling.
"""
