"""Indexes in graph databases that speak openCypher: over Bolt, and FalkorDB.

What is the same in all of them is here once: the statements of a reader (`store`), those of a
writer (`writing`), and who may write (`lease`). What differs is data (`dialect`), but for the
connections (`bolt`, `falkor`).

The nodes of an index have the label `ClewNode` and one of their kind, such as `Passage`; edges are
relationships of their kind, such as `MENTIONS`, with a weight; facts are nodes with the label
`ClewFact`, between what they are about. All have the number of their *generation*: every write
makes a new one, beside the one that is asked, and turns to it last, in one statement.
"""
