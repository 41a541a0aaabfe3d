"""Facts are read out of passages."""
