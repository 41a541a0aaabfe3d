"""The nearest rows by cosine: exactly, or by an HNSW index."""
