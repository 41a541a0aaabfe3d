"""What is made of a graph or of contexts, with a language model's help or without: the kinds of Write stage, and documentation."""

__all__: list[str] = []
