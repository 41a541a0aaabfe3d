"""Fused Gromov-Wasserstein distances between small graphs, and their bounds."""
