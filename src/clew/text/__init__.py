"""What text is made of: words, tokens, and the places where it can be cut; all in linear time."""
