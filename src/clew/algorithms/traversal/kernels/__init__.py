"""Compiled searches outward from start rows."""
