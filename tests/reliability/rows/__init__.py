"""The rows of the checklist, by subject."""
