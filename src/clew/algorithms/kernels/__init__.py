"""Loops compiled by numba; imported where they are first needed, since numba is slow to load."""
