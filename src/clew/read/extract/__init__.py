"""Extractors read facts in passages: (subject, relation, object)."""
