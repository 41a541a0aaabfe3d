"""Loops compiled by numba that several algorithms share.

They are imported inside functions, because numba is slow to load.
"""
