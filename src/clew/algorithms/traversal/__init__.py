"""Searches outward from some rows: breadth first and best first."""
