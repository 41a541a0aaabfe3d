"""What the references of a node are beside link targets: names that links lead to.

A reference that begins with `ANCHOR` or `LABEL` is no link but a name of the node itself.
"""

from __future__ import annotations

ANCHOR = "anchor:"  # before the name by which an address leads to the node in its document
LABEL = "label:"  # before the name by which links of all documents lead to the node
REFERENCE = "ref:"  # before the label of the node that a link leads to
NOTE = "note:"  # before the name of a note that a link leads to, whatever folder it is in
NO_PATHS = (ANCHOR, LABEL, REFERENCE, NOTE)
