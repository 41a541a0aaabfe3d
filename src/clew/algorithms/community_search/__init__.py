"""Attributed community search: trusses, and Q-Peel on them."""
