"""An index in PostgreSQL as a graph store: rows by their numbers, most of which are kept here."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from clew.deadline import DeadlineError, current
from clew.graph import Floats, Graph, Mask, Ragged, Rows, Vectors, distinct, freeze
from clew.graph.validate import validate_vectors
from clew.remote.fact_vectors import ASKED_BEFORE, SOURCES, FactEnds, FactVectors
from clew.remote.filters import filter_of, filter_of_fact
from clew.remote.kept_columns import KeptColumns, Places, RowBlock, joined_numbers, texts_of
from clew.remote.kept_facts import FactsOfVersion, KeptFacts
from clew.remote.kept_rows import KeptRows, KeptTable, RowsOfVersion
from clew.remote.late_vectors import VectorsLater
from clew.remote.neighbours import follow, in_order
from clew.remote.numbers import is_among
from clew.remote.packed_rows import NEIGHBOUR, STRONGEST, Ints, UnpackedRows, code_of_kind
from clew.remote.passage_vectors import PassageVectors
from clew.remote.protocol import (
    Capabilities,
    Expansion,
    FoundSeeds,
    Near,
    PulledNodes,
    Wanted,
)
from clew.remote.pulled_rows import ReadRows
from clew.remote.schema import APPROXIMATE_FROM
from clew.remote.session import Answers, BoundStatement, Session, Table
from clew.remote.values import NumberList, read_numbers, read_vectors
from clew.store.metadata_texts import parse_metadata

APPROXIMATE = 200  # of the nearest that an approximate index is asked for, at most
SEARCHED = {"clew_node": 1000, "clew_fact": 80}  # candidates of the approximate index, at least
MIN_AHEAD = 8  # rows that are sent for before they are needed; of fewer it is not worth it
FARTHEST = 24  # candidates of the approximate index for the farthest fact
VERSION = (  # and the versions since another one, with the nodes that each has changed
    "SELECT i.version, i.kinds, "
    "ARRAY(SELECT c.version FROM clew_change c WHERE c.index = i.id AND c.version > %s "
    "ORDER BY c.version), "
    "ARRAY(SELECT c.numbers FROM clew_change c WHERE c.index = i.id AND c.version > %s "
    "ORDER BY c.version) FROM clew_index i WHERE i.id = %s"
)
POSTINGS = "SELECT stem, passages, counts FROM clew_posting WHERE index = %s AND stem = ANY(%s)"
ROW = "r.number, r.numbers, r.texts, r.neighbours, octet_length(r.other_neighbours) > 0"
FETCH = (  # a negative number is that of a row whose vector is known
    f"SELECT {ROW}, vector_send(n.vector) FROM unnest(%s::int[]) AS w(number) "
    "JOIN clew_row r ON r.index = %s AND r.number = abs(w.number) "
    "LEFT JOIN clew_node n ON n.index = %s AND n.number = w.number"
)
FETCH_WITHOUT = (
    f"SELECT {ROW}, NULL::bytea FROM clew_row r WHERE r.index = %s AND r.number = ANY(%s::int[])"
)
VECTORS_OF_NODES = (
    "SELECT array_agg(vector IS NOT NULL ORDER BY number), "
    "string_agg(vector_send(vector), ''::bytea ORDER BY number) "
    "FROM clew_node WHERE index = %s AND number = ANY(%s::int[])"
)
FETCH_ALLOWED = (
    f"SELECT {ROW}, vector_send(n.vector) FROM unnest(%s::int[]) AS w(number) "
    "JOIN clew_row r ON r.index = %s AND r.number = w.number "
    "JOIN clew_node n ON n.index = %s AND n.number = w.number AND "
)


@dataclass(eq=False)
class _Question:
    """What one question has read so far, all of it at one moment of the database.

    Attributes:
        kept: The rows of the version that it sees; None until that is known.
        table: Where these rows are, and those that it has read.
        allowed: Whether it may use a row, by the number of its node, where a filter says so.
        absent: Numbers that are none of this index.
        fact_vectors: Those of the facts that are near.
        where: The filter.
        begun: What was sent before the vector of the question was known.
        ahead: The rows that were sent for before they are needed.
    """

    kept: RowsOfVersion | None = None
    table: KeptTable | None = None
    allowed: dict[int, bool] = field(default_factory=dict)
    absent: set[int] = field(default_factory=set)
    fact_vectors: dict[int, Vectors] = field(default_factory=dict)
    where: Wanted | None = None
    begun: _Begun | None = None
    ahead: _Ahead | None = None


@dataclass(frozen=True)
class _Begun:
    """What was sent that does not depend on the vector of the question.

    Attributes:
        answers: Waits for the answers.
        since: The version of which rows are kept, where they are of this index.
    """

    answers: Answers
    since: int | None


@dataclass(frozen=True, eq=False)
class _Ahead:
    """Rows that were sent for.

    Attributes:
        numbers: int32, those of their nodes, ascending.
        answers: Waits for the rows.
    """

    numbers: Rows
    answers: Answers


@dataclass(frozen=True)
class _FactsKnown:
    """What is known here of the facts of an index.

    Attributes:
        are_few: Whether they are so few that all are compared, and none is missed.
        vectors: Their vectors; None where the database compares them.
    """

    are_few: bool = False
    vectors: FactVectors | None = None


@dataclass(frozen=True, eq=False)
class PostgresStore:
    """One index of one tenant in PostgreSQL, as one question sees it.

    Attributes:
        session: What it is asked by.
        index: The number of the index. Every statement has it.
        dimension: The width of vectors.
        count: The tokenizer of the index.
        canonical: As in `clew.graph.Graph`.
        kept: Rows that were read by earlier questions; None to keep none.
        passage_vectors: Those of all passages of the version that is asked, where they are known
            here; None where the database finds the nearest.
        passages: How many passages the index has; where they are few, all are measured.
        version_asked: The version of the index that the question is for.
        kept_facts: What is kept of the facts; None to let the database find the nearest.
        read_facts: Has the vectors of facts read beside questions; None to read none.
        vectors_later: Which vectors are read when a stage looks at them; None for none.
    """

    session: Session
    index: int
    dimension: int
    count: Callable[[str], int]
    canonical: Callable[[str], str] | None = None
    kept: KeptRows | None = None
    passage_vectors: PassageVectors | None = None
    passages: int = 0
    version_asked: int = -1
    kept_facts: KeptFacts | None = None
    read_facts: Callable[[FactsOfVersion], None] | None = None
    vectors_later: VectorsLater | None = None
    _question: _Question = field(default_factory=_Question, repr=False)

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return Capabilities(
            enforces_where=True,
            searches_vectors=True,
            snapshot=True,
            is_async=True,
            spreads_masses=True,
        )

    async def version(self) -> int:
        """Return the version of the index, which every write raises.

        Raises:
            KeyError: There is no such index any more.
        """
        [rows] = await self._run(self._version())
        return self._read_version(rows)[0]

    async def seeds(
        self,
        vector: Vectors | None,
        stems: Sequence[bytes],
        passages: int,
        facts: int,
        where: Wanted | None = None,
    ) -> FoundSeeds:
        """Return what a question leads to directly; see `GraphStore`."""
        vector = _direction(vector)
        begun, self._question.begun = self._question.begun, None
        if begun is None:
            begun = await self._begun(stems, where)
        known, searches = _FactsKnown(), list[tuple[str, BoundStatement]]()
        if vector is not None:
            if where is None:
                known = await self._facts_known()
            searches = self._searches(vector, passages, facts, where, known)
        answers = await self._send(*(one for _, one in searches)) if searches else None
        near = near_facts = None  # the database answers meanwhile
        if vector is not None and where is None:
            near = self._near_here(vector, passages, None)
            near_facts = self._near_facts_of(known.vectors, vector, facts)
        kept = None if self.kept is None else self.kept.of(self.index, self.version_asked)
        expected = None if kept is None else kept.table
        await self._read_ahead(expected, near, near_facts)
        rows, postings, *of_where = await begun.answers()
        found = _by_name(searches, [] if answers is None else await answers())
        version, kinds, changes = self._read_version(rows)
        self._begin(version, kinds, changes, begun.since)
        allowed = None if where is None else read_numbers(of_where[0][0][0])
        if vector is not None and where is not None:
            near = self._near_here(vector, passages, allowed)
        if vector is not None and near_facts is None and known.are_few:
            # Ranked here, so that the order is the same as where their vectors are known.
            near_facts = self._near_facts_of(self._facts_of(found["facts"]), vector, facts)
        seeds = FoundSeeds(
            version,
            _near_passages(found.get("passages", [])) if near is None else near,
            self._near_facts(found.get("facts", [])) if near_facts is None else near_facts,
            {
                stem: (np.frombuffer(numbers, "<i4"), np.frombuffer(counts, "<f4").astype(float))
                for stem, numbers, counts in postings
            },
            allowed,
        )
        if self._question.table is not expected:  # another version, or the first question to it
            self._question.ahead = None
        if self._question.ahead is None and where is None and version == self.version_asked:
            await self._read_ahead(self._question.table, seeds.passages, seeds.facts)
        return seeds

    async def begin(self, stems: Sequence[bytes], where: Wanted | None = None) -> None:
        """Send what `seeds` asks next with the same stems and filter, whatever the vector is."""
        self._question.begun = await self._begun(stems, where)

    async def _begun(self, stems: Sequence[bytes], where: Wanted | None) -> _Begun:
        newest = None if self.kept is None else self.kept.newest
        since = newest.version if newest is not None and newest.index == self.index else None
        statements = [
            self._version(since),
            BoundStatement(POSTINGS, (self.index, list(stems))),
        ]
        if where is not None:
            statements.append(self._allowed_passages(where))
        return _Begun(await self._send(*statements), since)

    def _searches(
        self, vector: Vectors, passages: int, facts: int, where: Wanted | None, known: _FactsKnown
    ) -> list[tuple[str, BoundStatement]]:
        """Return what finds the nearest of what is not known here."""
        found = []
        if self.passage_vectors is None:
            found += self._nearest_passages(vector, passages, where)
        if known.vectors is None:
            found += self._nearest_facts(vector, facts, where, measures=known.are_few)
        return found

    def _near_here(self, vector: Vectors, k: int, allowed: Rows | None) -> Near | None:
        """Return the nearest passages, where their vectors are known here; None where not."""
        if self.passage_vectors is None:
            return None
        numbers, cosines = self.passage_vectors.nearest(vector, k, allowed)
        return Near(numbers, freeze([], np.int32), cosines)

    def _allowed_passages(self, where: Wanted) -> BoundStatement:
        sql, values = filter_of("n", where)
        return BoundStatement(
            "SELECT string_agg(int4send(n.number), ''::bytea ORDER BY n.number) "
            f"FROM clew_node n WHERE n.index = %s AND n.kind = 'passage' AND {sql}",
            (self.index, *values),
        )

    def _nearest_passages(
        self, vector: Vectors, k: int, where: Wanted | None
    ) -> list[tuple[str, BoundStatement]]:
        """Return what finds the nearest passages: their numbers and distances.

        The number of the index is in the statement: it is planned once, whatever is bound to it,
        and the approximate index holds for one number alone.
        """
        allowed, values = filter_of("n", where)
        width = f"vector({self.dimension})"
        distance = f"((n.vector::{width}) <#> %s::{width})"
        # A filter and the approximate index do not go together: nothing may be missed.
        may_miss = where is None and self.passages >= APPROXIMATE_FROM[0] and k <= APPROXIMATE
        exact = "" if may_miss else " + 0"
        nearest = BoundStatement(  # each distance is computed once, since it is named
            f"SELECT number, distance FROM (SELECT n.number, {distance} AS distance "
            f"FROM clew_node n WHERE n.index = {self.index:d} AND n.vector IS NOT NULL "
            f"AND n.kind = 'passage' AND {allowed}) AS measured "
            f"ORDER BY distance{exact} LIMIT {k:d}",
            (vector, *values),
        )
        candidates = [("", _candidates(max(k, SEARCHED["clew_node"])))] if may_miss else []
        return [*candidates, ("passages", nearest)]

    def _nearest_facts(
        self, vector: Vectors, k: int, where: Wanted | None, *, measures: bool = False
    ) -> list[tuple[str, BoundStatement]]:
        """Return what finds the nearest facts, and the farthest as the last one.

        Of each its number, its distance, its ends, some of its sources, and its vector. The number
        of the index is in the statement, as in `_nearest_passages`.

        Args:
            vector: What they are compared with.
            k: How many.
            where: What may be read; None for everything.
            measures: Whether all are measured: few are, so that nothing is missed.
        """
        allowed, values = filter_of_fact("n", where)
        width = f"vector({self.dimension})"
        distance = f"((n.vector::{width}) <#> %s::{width})"
        columns = f"n.subject, n.object, n.read_from[1:{SOURCES}], vector_send(n.vector)"
        if where is not None or k > APPROXIMATE or measures:  # all, once
            every = BoundStatement(
                f"WITH far AS MATERIALIZED (SELECT n.number, {distance} AS far "
                "FROM clew_fact n WHERE n.index = %s AND n.vector IS NOT NULL "
                f"AND {allowed}), chosen AS ("
                "(SELECT number, far FROM far ORDER BY far, number LIMIT %s) UNION ALL "
                "(SELECT number, far FROM far ORDER BY far DESC, number LIMIT 1)) "
                f"SELECT n.number, c.far, {columns} FROM chosen c JOIN clew_fact n "
                "ON n.index = %s AND n.number = c.number ORDER BY c.far, n.number",
                (vector, self.index, *values, k, self.index),
            )
            return [("facts", every)]
        found = []
        for sign, limit, searched in ((1, k, max(k, SEARCHED["clew_fact"])), (-1, 1, FARTHEST)):
            towards = sign * vector
            search = BoundStatement(
                f"SELECT n.number, %s * {distance}, {columns} FROM clew_fact n "
                f"WHERE n.index = {self.index:d} AND n.vector IS NOT NULL "
                f"ORDER BY {distance} LIMIT {limit:d}",
                (float(sign), towards, towards),
            )
            found += [("", _candidates(searched)), ("facts", search)]
        return found

    def _begin(
        self,
        version: int,
        kinds: Sequence[str],
        changes: Sequence[tuple[int, bytes]],
        since: int | None,
    ) -> None:
        """Note which version the question sees, and take the rows that are kept of it."""
        question = self._question
        kept = KeptRows(0) if self.kept is None else self.kept
        found = kept.of(self.index, version)
        if found is None:
            known = [one for one, _ in changes] == list(range((since or 0) + 1, version + 1))
            changed = None
            if since is not None and since < version and known:
                some = [np.frombuffer(numbers, "<i4") for _, numbers in changes]
                changed = distinct(np.concatenate(some)).tolist()
            found = kept.begin(self.index, version, kinds, self.dimension, changed)
        question.kept, question.table = found, found.table

    async def _facts_known(self) -> _FactsKnown:
        """Return what is known here of the facts; few are read beside the second question."""
        kept = self.kept_facts
        if kept is None or not self.dimension or self.passages > kept.limit(self.dimension):
            return _FactsKnown()  # facts are more than passages as a rule
        facts = kept.of(self.index, self.version_asked)
        if facts is None:
            listing = kept.listing(self.index, self.dimension)
            [rows, listed] = await self._run(self._version(), listing)
            version = self._read_version(rows)[0]
            facts = kept.listed(self.index, version, listed, self.dimension)
            if version != self.version_asked:  # the question is asked again
                return _FactsKnown()
        kept.questions += 1
        is_wanted = facts.are_few and facts.vectors is None and kept.questions > ASKED_BEFORE
        if is_wanted and self.read_facts is not None:
            self.read_facts(facts)
        return _FactsKnown(facts.are_few, facts.vectors)

    def _facts_of(self, rows: Table) -> FactVectors:
        """Return facts of what `_nearest_facts` has found."""
        rows = sorted({row[0]: row for row in rows}.values())
        sent = b"".join(row[5] for row in rows)
        ends = np.array([row[:1] + row[2:4] for row in rows], np.int32).reshape(-1, 3)
        return FactVectors(
            FactEnds.of_columns(ends, Ragged.of(row[4] for row in rows)),
            read_vectors(sent, np.ones(len(rows), np.bool_), self.dimension),
        )

    def _near_facts_of(self, facts: FactVectors | None, vector: Vectors, k: int) -> Near | None:
        """Return the nearest of facts whose vectors are known here, and keep these of them."""
        if facts is None:
            return None
        best, cosines, worst, lowest = facts.nearest(vector, k)
        rows, values = np.concatenate([best, worst]), np.concatenate([cosines, lowest])
        if len(worst) and worst[0] in best:  # the farthest is near, too
            rows, values = rows[:-1], values[:-1]
        found = facts.ends.taken(freeze(rows, np.int32))
        self._question.fact_vectors.update(
            zip(found.numbers.tolist(), facts.vectors[rows], strict=True)
        )
        pairs = np.stack([found.subjects, found.objects], axis=1)
        sources = found.read_from.values[: found.read_from.starts[max(0, len(rows) - 1)]]
        ends = distinct(np.concatenate([pairs.ravel(), sources]))
        return Near(
            found.numbers,
            freeze(ends, np.int32),
            freeze(values, np.float64),
            freeze(pairs, np.int32),
        )

    def _near_facts(self, rows: Table) -> Near:
        """Return the nearest facts, and keep their vectors."""
        rows = list({row[0]: row for row in rows}.values())  # the farthest may be near, too
        sent = b"".join(row[5] for row in rows)
        vectors = read_vectors(sent, np.ones(len(rows), np.bool_), self.dimension)
        for row, vector in zip(rows, vectors, strict=True):
            self._question.fact_vectors[row[0]] = vector
        ends = {end for _, _, *two, read_from, _ in rows[:-1] for end in (*two, *read_from)}
        ends |= {end for _, _, *two, _, _ in rows[-1:] for end in two}
        return Near(
            freeze([row[0] for row in rows], np.int32),
            freeze(sorted(ends), np.int32),
            freeze([-row[1] for row in rows], np.float64),
            freeze([row[2:4] for row in rows] or np.zeros((0, 2)), np.int32),
        )

    async def expand(
        self,
        numbers: Rows,
        per_node: int,
        without: Sequence[str] = (),
        where: Wanted | None = None,
        masses: Floats | None = None,
    ) -> Expansion:
        """Return the nodes that edges join with these; see `GraphStore`."""
        if not len(numbers):
            return Expansion(freeze([], np.int32), freeze([], np.float64), 0)
        columns, places = await self._rows(numbers, where)
        starts = np.flatnonzero(places >= 0)
        places = places[starts]
        codes = [code_of_kind(kind) for kind in without]
        entries, lengths = columns.neighbours(places)
        if per_node > STRONGEST and (others := columns.has_others(places)).any():
            more, of_more = await self._other_neighbours(numbers[starts][others])
            owners = np.repeat(np.arange(len(places)), lengths)
            owners = np.append(owners, np.repeat(np.flatnonzero(others), of_more))
            entries = in_order(owners, np.concatenate([entries, more]))
            lengths = np.bincount(owners, minlength=len(places))
        followed = follow(entries, lengths, per_node, codes)
        weights = followed.weights.astype(np.float64)
        if masses is not None:
            strengths = self._strengths(columns.unpacked(places), without)
            weights *= (masses[starts] / strengths)[followed.owners]
        found, places = np.unique(followed.numbers, return_inverse=True)
        sums = np.bincount(places, weights, len(found))
        if where is not None:
            may_be_read = np.isin(found, await self._allowed(found, where))
            found, sums = found[may_be_read], sums[may_be_read]
        return Expansion(
            freeze(found, np.int32), freeze(sums, np.float64), int(followed.is_cut.sum())
        )

    def _strengths(self, rows: UnpackedRows, without: Sequence[str]) -> Floats:
        """Return the weights of all edges of nodes that are followed, together."""
        kept = self._question.kept
        kinds = [] if kept is None else [kind for kind in kept.kinds if kind not in without]
        sums = rows.strengths(kinds).sum(axis=1)
        return freeze(np.maximum(sums, 1e-12), np.float64)

    async def nodes(
        self, numbers: Rows, fact_vectors: Rows | None = None, where: Wanted | None = None
    ) -> PulledNodes:
        """Return nodes with what contains them, and the facts and edges among them."""
        columns, places = await self._rows(numbers, where)
        chosen, places = numbers[places >= 0], places[places >= 0]
        if not len(chosen):
            none = np.zeros(0, np.int64)
            empty = Graph.of([], vectors=np.zeros((0, self.dimension)), count=self.count)
            return PulledNodes(freeze([], np.int32), empty, none, none, none.astype(np.int8))
        above = distinct(columns.unpacked(places).lists("above").values)
        above = above[~is_among(above, np.sort(chosen))]
        if len(above):
            columns, of_above = await self._rows(freeze(above, np.int32), where)
            chosen = np.concatenate([chosen, above[of_above >= 0]])
            places = np.concatenate([places, of_above[of_above >= 0]])
        order = np.argsort(chosen)
        kept = self._question.kept
        kinds = () if kept is None else kept.kinds
        read = ReadRows(
            *(freeze(chosen[order], np.int32), columns, places[order]),
            *(kinds, self.count, self.canonical),
            later=self.vectors_later,
        )
        if self.vectors_later is None:
            await self._read_vectors(read)
        allowed: Rows | None = None
        vectors: Mapping[int, Vectors] = self._question.fact_vectors
        wanted = fact_vectors is None or not vectors.keys() >= set(fact_vectors.tolist())
        if wanted or where is not None:
            allowed, vectors = await self._facts(read.facts_between(), fact_vectors, where)
        found = read.graph(allowed, vectors)
        if where is not None:  # what is forbidden has no part in anything
            return found
        return found.with_strengths(kinds, read.unpacked.strengths(kinds))

    async def _facts(
        self, between: Rows, wanted: Rows | None, where: Wanted | None
    ) -> tuple[Rows | None, Mapping[int, Vectors]]:
        """Return which facts may be read, None for all, and the vectors of the wanted ones."""
        known = self._question.fact_vectors
        every = between if wanted is None else np.intersect1d(between, wanted)
        missing = [number for number in every.tolist() if number not in known]
        statements = []
        of_fact, values = filter_of_fact("n", where)
        if where is not None:
            statements.append(
                BoundStatement(
                    "SELECT string_agg(int4send(n.number), ''::bytea ORDER BY n.number) "
                    "FROM unnest(%s::int[]) AS w(number) JOIN clew_fact n "
                    f"ON n.index = %s AND n.number = w.number AND {of_fact}",
                    (NumberList(between), self.index, *values),
                )
            )
        if missing:
            statements.append(
                BoundStatement(
                    "SELECT n.number, vector_send(n.vector) FROM unnest(%s::int[]) AS w(number) "
                    "JOIN clew_fact n ON n.index = %s AND n.number = w.number "
                    f"AND n.vector IS NOT NULL AND {of_fact}",
                    (NumberList(freeze(missing, np.int32)), self.index, *values),
                )
            )
        if not statements:
            return None, known
        found = await self._run(*statements)
        allowed = read_numbers(found[0][0][0]) if where is not None else None
        if missing:
            sent = read_vectors(
                b"".join(row[1] for row in found[-1]),
                np.ones(len(found[-1]), np.bool_),
                self.dimension,
            )
            for (number, _), vector in zip(found[-1], sent, strict=True):
                known[number] = vector
        return allowed, known

    async def _rows(self, numbers: Rows, where: Wanted | None) -> tuple[KeptColumns, Places]:
        """Return where the rows of nodes are; -1 of those not of this index, or not allowed."""
        question = self._question
        if where != question.where:  # what another filter has allowed says nothing
            question.allowed, question.where = {}, where
        places = None if question.table is None else question.table.places(numbers)
        is_unknown = np.ones(len(numbers), np.bool_) if places is None else places < 0
        if where is not None:
            is_unknown = np.array([one not in question.allowed for one in numbers.tolist()], bool)
        if is_unknown.any():
            unknown = numbers[is_unknown]
            absent = np.fromiter(question.absent, np.int32, len(question.absent))
            if len(unknown := unknown[~np.isin(unknown, absent)]):
                if where is None:
                    await self._read(freeze(unknown, np.int32))
                else:
                    await self._read_allowed(freeze(unknown, np.int32), where)
                places = None
        table = question.table
        if table is None:  # nothing was asked for, and so nothing is known
            return KeptColumns(self.dimension), np.full(len(numbers), -1, np.int64)
        if places is None:
            places = table.places(numbers)
        if where is not None:
            may_be_used = [question.allowed.get(one, False) for one in numbers.tolist()]
            places = np.where(may_be_used, places, -1)
        return table.columns, places

    async def _read(self, numbers: Rows) -> None:
        """Read rows that are not kept."""
        question, missing = self._question, numbers
        ahead, question.ahead = question.ahead, None
        if question.table is not None:
            missing = missing[question.table.places(missing) < 0]
        if ahead is not None:
            missing = missing[~is_among(missing, ahead.numbers)]
        statements = [self._version()] if question.kept is None else []
        if len(missing):
            statements.append(self._fetch(missing))
        found = await self._run(*statements) if statements else []
        if question.kept is None:
            self._begin(*self._read_version(found.pop(0)), None)
        if ahead is not None:
            found += await ahead.answers()
            missing = np.concatenate([missing, ahead.numbers])
        read = self._put([row for rows in found for row in rows], self.vectors_later)
        question.absent.update(missing[~np.isin(missing, read)].tolist())

    async def _read_allowed(self, numbers: Rows, where: Wanted) -> None:
        """Read rows that are not kept and a filter allows, and note which of the kept it allows."""
        question = self._question
        is_kept = np.zeros(len(numbers), np.bool_)
        if question.table is not None:
            is_kept = question.table.places(numbers) >= 0
        kept, missing = numbers[is_kept], numbers[~is_kept]
        statements = [self._version()] if question.kept is None else []
        if len(missing):
            allowed, values = filter_of("n", where)
            some = NumberList(freeze(np.sort(missing), np.int32))
            values = (some, self.index, self.index, *values)
            statements.append(BoundStatement(FETCH_ALLOWED + allowed, values))
        if len(kept):
            statements.append(self._allowed_of(freeze(kept, np.int32), where))
        found = await self._run(*statements) if statements else []
        if question.kept is None:
            self._begin(*self._read_version(found.pop(0)), None)
        may_be_used = read_numbers(found.pop()[0][0]) if len(kept) else kept
        read = self._put([row for rows in found for row in rows])
        question.allowed.update(dict.fromkeys(numbers.tolist(), False))
        question.allowed.update(dict.fromkeys((*may_be_used.tolist(), *read.tolist()), True))

    async def _read_ahead(
        self, table: KeptTable | None, passages: Near | None, facts: Near | None
    ) -> None:
        """Send for the rows of what a question leads to; the database reads them meanwhile.

        Nothing is sent before all three are known.

        Args:
            table: The rows that are kept of the version that is asked.
            passages: The nearest passages.
            facts: The nearest facts.
        """
        if table is None or passages is None or facts is None:
            return
        numbers = distinct(np.concatenate([passages.numbers, facts.ends]))
        missing = freeze(numbers[table.places(numbers) < 0], np.int32)
        if len(missing) >= MIN_AHEAD:
            self._question.ahead = _Ahead(missing, await self._send(self._fetch(missing)))

    def _fetch(self, numbers: Rows) -> BoundStatement:
        """Return what reads rows, with the vectors that are not known here and come with them."""
        wanted, later = np.sort(numbers), self.vectors_later
        comes = np.ones(len(wanted), np.bool_)
        if self.passage_vectors is not None:
            comes &= ~self.passage_vectors.has(wanted)
        if later is not None:
            comes &= is_among(wanted, later.passages)
        if not comes.any():
            return BoundStatement(FETCH_WITHOUT, (self.index, NumberList(freeze(wanted, np.int32))))
        some = NumberList(freeze(np.where(comes, wanted, -wanted), np.int32))
        return BoundStatement(FETCH, (some, self.index, self.index))

    async def _read_vectors(self, rows: ReadRows) -> None:
        """Read the vectors that did not come with their rows, which an earlier question read."""
        places, numbers = rows.unread
        if not len(numbers):
            return
        [[[has, sent]]] = await self._run(
            BoundStatement(VECTORS_OF_NODES, (self.index, NumberList(numbers)))
        )
        vectors = read_vectors(sent, np.array(has, np.bool_), self.dimension)
        rows.columns.put_vectors(places, vectors)

    def _put(self, rows: Table, later: VectorsLater | None = None) -> Rows:
        """Keep rows that were read, and return the numbers of their nodes."""
        question, numbers = self._question, freeze([row[0] for row in rows], np.int32)
        if len(rows) and question.kept is not None and question.table is not None:
            question.kept.put(question.table, numbers, self._block(rows, later))
        return numbers

    def _block(self, rows: Table, later: VectorsLater | None) -> RowBlock:
        """Return the rows that were read.

        Args:
            rows: Of each its six columns, as `FETCH` has them.
            later: Which vectors did not come with them; None where all did.
        """
        numbers, packed, texts, neighbours, has_others, sent = zip(*rows, strict=True)
        has = np.fromiter((one is not None for one in sent), np.bool_, len(rows))
        every = np.ones(int(has.sum()), np.bool_)
        vectors = read_vectors(b"".join(filter(None, sent)), every, self.dimension)
        if self.passage_vectors is not None and not has.all():
            vectors, has = _with_known(self.passage_vectors, np.array(numbers), vectors, has)
        validate_vectors("vectors", vectors, np.array(numbers)[has].tolist())
        is_unread = None if later is None else ~has & ~is_among(np.array(numbers), later.passages)
        data = b",".join(texts).decode("utf-8", "surrogatepass")
        ids, own_texts, metadata, links, fact_texts, relations = zip(
            *json.loads(f"[{data}]"), strict=True
        )
        parsed = {text: parse_metadata(text) for text in set(metadata)}
        entries, lengths = joined_numbers(neighbours)
        return RowBlock(
            *joined_numbers(packed),
            entries.reshape(-1, NEIGHBOUR),
            lengths // NEIGHBOUR,
            np.array(has_others, np.bool_),
            texts_of(ids),
            texts_of(own_texts),
            texts_of([parsed[text] for text in metadata]),
            texts_of([tuple(some) for some in links]),
            texts_of([*chain.from_iterable(fact_texts)]),
            texts_of([*chain.from_iterable(relations)]),
            np.fromiter(map(len, fact_texts), np.int64, len(rows)),
            vectors,
            has,
            is_unread,
        )

    async def _other_neighbours(self, numbers: Rows) -> tuple[Ints, Places]:
        """Return the neighbours beside the strongest of nodes that have many, and their counts."""
        [rows] = await self._run(
            BoundStatement(
                "SELECT number, other_neighbours FROM clew_row "
                "WHERE index = %s AND number = ANY(%s::int[])",
                (self.index, NumberList(numbers)),
            )
        )
        of_number: dict[int, bytes] = dict(rows)
        entries, lengths = joined_numbers(of_number[number] for number in numbers.tolist())
        return entries.reshape(-1, NEIGHBOUR), lengths // NEIGHBOUR

    async def _allowed(self, numbers: Rows, where: Wanted) -> Rows:
        """Return which nodes may be read."""
        if not len(numbers):
            return freeze([], np.int32)
        [[[found]]] = await self._run(self._allowed_of(numbers, where))
        return read_numbers(found)

    def _allowed_of(self, numbers: Rows, where: Wanted) -> BoundStatement:
        sql, values = filter_of("n", where)
        return BoundStatement(
            "SELECT string_agg(int4send(n.number), ''::bytea ORDER BY n.number) "
            "FROM unnest(%s::int[]) AS w(number) JOIN clew_node n "
            f"ON n.index = %s AND n.number = w.number AND {sql}",
            (NumberList(numbers), self.index, *values),
        )

    def _version(self, since: int | None = None) -> BoundStatement:
        return BoundStatement(VERSION, (since, since, self.index))

    def _read_version(self, rows: Table) -> tuple[int, list[str], list[tuple[int, bytes]]]:
        """Return the version, the kinds of the index, and what was changed since another one."""
        if not rows:
            raise KeyError("the index is not in the database any more")
        version, kinds, versions, numbers = rows[0]
        return version, kinds, list(zip(versions, numbers, strict=True))

    async def _run(self, *statements: BoundStatement) -> list[Table]:
        limit = _limit()
        return (await self.session.run(*limit, *statements))[len(limit) :]

    async def _send(self, *statements: BoundStatement) -> Answers:
        limit = _limit()
        answers = await self.session.send(*limit, *statements)

        async def without_limit() -> list[Table]:
            return (await answers())[len(limit) :]

        return without_limit


def _direction(vector: Vectors | None) -> Vectors | None:
    """Return the vector of a question; None for one of zeros, to which nothing is near."""
    if vector is not None and not np.isfinite(vector).all():
        raise ValueError("the vector of the question is not finite")
    return None if vector is None or not vector.any() else vector


def _limit() -> list[BoundStatement]:
    """Return what bounds the time of the next statements, where the question has a deadline."""
    left = current().remaining()
    if left <= 0:
        raise DeadlineError("the deadline of the question passed before the database answered")
    if math.isinf(left):
        return []
    return [BoundStatement(f"SET LOCAL statement_timeout = {max(1, round(left * 1000))}")]


def _with_known(
    known: PassageVectors, numbers: Rows, sent: Vectors, has: Mask
) -> tuple[Vectors, Mask]:
    """Return the vectors of nodes, and which have one, with those of passages that are known here.

    Args:
        known: Those of the passages.
        numbers: int32 [n], the nodes.
        sent: float32 [m, d], what the database sent.
        has: bool [n], of which nodes it did.
    """
    places = np.flatnonzero(~has)
    places = places[known.has(numbers[places])]
    vectors, has_known = known.of(numbers[places])
    places, every = places[has_known], has.copy()
    every[places] = True
    found, slots = np.empty((int(every.sum()), sent.shape[1]), np.float32), np.cumsum(every) - 1
    found[slots[has]], found[slots[places]] = sent, vectors
    return found, every


def _candidates(count: int) -> BoundStatement:
    """Return what says how many candidates the approximate index looks at from here on."""
    return BoundStatement(f"SET LOCAL hnsw.ef_search = {min(count, 1000)}")


def _near_passages(rows: Table) -> Near:
    return Near(
        freeze([row[0] for row in rows], np.int32),
        freeze([], np.int32),
        freeze([-row[1] for row in rows], np.float64),
    )


def _by_name(asked: Sequence[tuple[str, BoundStatement]], tables: list[Table]) -> dict[str, Table]:
    """Return the rows of statements by their names; those of one name come one after the other."""
    found = dict[str, Table]()
    for (name, _), rows in zip(asked, tables, strict=True):
        found.setdefault(name, []).extend(rows)
    return found
