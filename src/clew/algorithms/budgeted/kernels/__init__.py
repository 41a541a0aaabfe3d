"""Compiled loops of budgeted selection."""
