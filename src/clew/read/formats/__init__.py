"""How a text is written: one file a format, one table of all."""
