"""How many rows a server has written, counted there: those that are new, gone, or have other values."""

from __future__ import annotations

from dataclasses import dataclass

NODE_VALUES = (
    *("number", "id", "kind", "text", "tokens", "document", "parent", "previous", "span_start"),
    *("span_end", "links", "read_from", "generated", "metadata", "above", "mentions", "contents"),
    *("language", "values", "data", "subject", "object", "relation", "passages", "counts", "path"),
    "block",
)
EDGE_VALUES = ("number", "kind", "weight", "fact", "read_from")
ROWS = {
    "nodes": "(x:ClewNode)",
    "facts": "(x:ClewFact)",
    "words": "(x:ClewPosting)",
    "files": "(x:ClewFile)",
    "edges": "(:ClewNode)-[x]->(:ClewNode)",
}
AT_ONCE = 20_000  # rows that are marked in one statement


@dataclass(frozen=True)
class RowCounts:
    """How many rows of a kind were written.

    Attributes:
        made: Those that were not there.
        deleted: Those that are not there any more.
        changed: Those that have other values.
    """

    made: int
    deleted: int
    changed: int

    @property
    def written(self):
        """All of them."""
        return self.made + self.deleted + self.changed


class RowCounter:
    """What counts the rows that a server writes from now on, by kind.

    Every row is marked. One that is written anew, be it with the same values, has no mark.
    """

    def __init__(self, server):
        self._server = server
        for pattern in ROWS.values():
            while self._run(
                f"MATCH {pattern} WHERE x.marked IS NULL WITH x LIMIT {AT_ONCE} "
                "SET x.marked = 1 RETURN count(x)"
            )[0][0]:
                pass
        self._before = self._values()

    def counts(self):
        after, found = self._values(), {}
        for kind, then in self._before.items():
            now = after[kind]
            marked = {id: values for id, (is_marked, values) in now.items() if is_marked}
            found[kind] = RowCounts(
                made=len(now) - len(marked),
                deleted=len(then) - len(marked),
                changed=sum(then[id][1] != values for id, values in marked.items()),
            )
        return found

    def _values(self):
        found = {}
        for kind, pattern in ROWS.items():
            names = EDGE_VALUES if kind == "edges" else NODE_VALUES
            values = ", ".join(f"x.{name}" for name in names)
            rows = self._run(f"MATCH {pattern} RETURN id(x), x.marked, {values}")
            found[kind] = {id: (marked == 1, values) for id, marked, *values in rows}
        return found

    def _run(self, text):
        return self._server.run(text)
