"""Folders and questions made of public collections, one module a format.

Nothing of the collections is kept here: a `Checkout` names a repository at a commit, an archive is one of the
package index, and a preparer makes of them the files of a folder and drafts of questions. `sets.py`
is the table of what is prepared; `material.py` has the rules that hold for every set.
"""
