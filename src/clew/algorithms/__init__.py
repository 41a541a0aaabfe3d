"""Algorithms on arrays: what several rooms share, or what is worth compiling.

Nothing here knows of retrieval. A folder holds one problem, with its compiled loops in `kernels`;
its `__init__` names the papers and exports the public functions.
"""
