"""Kills a process that adds, upserts, syncs, deletes and compacts, and saves in between.

    python -m tests.reliability.kills_over_changes --kills 2000

A round opens the index that is in a folder, goes from state k to state k + 1 by one to three changes,
saves, says so, and goes on until it is killed with SIGKILL at a random moment. What the states hold is
known beforehand, from a seed. After every kill the folder has to open, `clew.store.check` has to find
no damage, and the index has to be the last state that was said to be saved, or the next: documents and
facts, the nodes and facts of the graph, and what "bm25" answers, against an index that is built of them.

Savers that are killed before they have changed anything are in `tests/store/kills.py`.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from clew import Document, Index, store
from clew.index import in_place
from clew.store import manifest, saving
from clew.store.manifest import generations
from tests.conftest import hashed_words
from tests.index.test_in_place import described
from tests.reliability.power_loss import IN_MEMORY

CHANGES = ("add", "upsert", "sync", "delete", "compact")
WEIGHTS = (4, 4, 4, 4, 1)  # after `compact` all is saved whole
PLACES = ("Corfu", "Delos", "Naxos", "Paros", "Samos")
N_DOCUMENTS = 60
MAX_DOCUMENTS = 90
KILLS_PER_FOLDER = 50
ROOT = Path(__file__).resolve().parents[2]

State = Mapping[str, str]
"""The texts of the documents, by id."""


@dataclass(frozen=True)
class Change:
    """A change of a state.

    Attributes:
        kind: One of `CHANGES`.
        put: The texts that come, by id.
        gone: The ids that go.
    """

    kind: str
    put: State = field(default_factory=dict)
    gone: frozenset[str] = frozenset()

    def of(self, state: State) -> State:
        """Return the state after the change."""
        return {id: text for id, text in state.items() if id not in self.gone} | dict(self.put)

    def on(self, index: Index, after: State) -> Index:
        """Return the index after the change, by the method of its name."""
        if self.kind == "compact":
            return index.compact()
        if self.kind == "delete":
            return index.delete(self.gone)
        texts = after if self.kind == "sync" else self.put
        return getattr(index, self.kind)(documents_of(texts), facts=facts_of(texts))


def text_of(chance: random.Random, id: str, k: int) -> str:
    """Return what a document says since state k."""
    one, other = chance.sample(PLACES, 2)
    return (
        f"Ferry {id} sails from {one} to {other} since year {k}, at {chance.randrange(24)} o'clock."
    )


def documents_of(state: State) -> list[Document]:
    """Return the documents of a state."""
    return [Document(id, text) for id, text in state.items()]


def facts_of(state: State) -> dict[str, list[tuple[str, str, str]]]:
    """Return the facts of a state: none in every third document."""
    return {
        id: [(f"Ferry {id}", "sails from", text.split()[4])]
        for id, text in state.items()
        if int(id[1:]) % 3
    }


def first_state(seed: int) -> State:
    """Return state 1."""
    chance = random.Random(f"{seed} 1")
    return {f"d{i}": text_of(chance, f"d{i}", 1) for i in range(N_DOCUMENTS)}


def changes_to(state: State, k: int, seed: int) -> Iterator[tuple[Change, State]]:
    """Yield the changes that make state k of the one before, with the state after each."""
    chance = random.Random(f"{seed} {k}")
    for n in range(chance.randint(1, 3)):
        kind = chance.choices(CHANGES, WEIGHTS)[0]
        if kind == "add" and len(state) > MAX_DOCUMENTS:
            kind = "delete"
        there, put, gone = sorted(state), set(), set()
        if kind in ("upsert", "sync"):
            put |= set(chance.sample(there, 2))
        if kind in ("add", "upsert", "sync"):
            put |= {f"d{1000 + 100 * k + 10 * n + i}" for i in range(chance.randint(1, 3))}
        if kind in ("delete", "sync"):
            left = sorted(set(there) - put)
            gone = set(chance.sample(left, min(chance.randint(1, 4), max(len(left) - 20, 1))))
        texts = {id: text_of(chance, id, k) for id in sorted(put)}
        change = Change(kind, texts, frozenset(gone))
        state = change.of(state)
        yield change, state


class States:
    """The states of a seed, by number; each is made of the one before."""

    def __init__(self, seed: int) -> None:
        self.seed, self.known = seed, {1: first_state(seed)}
        self.kinds: dict[int, list[str]] = {1: []}

    def __getitem__(self, k: int) -> State:
        for number in range(max(self.known) + 1, k + 1):
            state, kinds = self.known[number - 1], []
            for change, after in changes_to(state, number, self.seed):
                state = after
                kinds.append(change.kind)
            self.known[number], self.kinds[number] = state, kinds
        return self.known[k]


@dataclass
class Kills:
    """What became of folders whose writers were killed.

    Attributes:
        kills: How many were killed.
        acknowledged: The saves that had returned before.
        in_save: The kills between the beginning of a save and the word that it is done.
        unfinished: The kills that left files of a save that was not finished.
        newer: The kills after which a save was there that had not yet been said to be.
        as_change: The kills after which the newest generation is a change.
        changed: How often each kind of change was in a save that had returned.
        failures: What is wrong, one sentence each.
    """

    kills: int = 0
    acknowledged: int = 0
    in_save: int = 0
    unfinished: int = 0
    newer: int = 0
    as_change: int = 0
    changed: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def say(words: str) -> None:
    """Write a line at once."""
    os.write(1, f"{words}\n".encode())


def built(state: State) -> Index:
    """Return an index of a state, built at once."""
    return Index.from_documents(documents_of(state), facts=facts_of(state), embedder=hashed_words)


def go_on(folder: Path, k: int, seed: int) -> None:
    """Save states from k on; where it is odd, a thread writes whole what was saved, beside that."""
    if k % 2:
        saving.MAX_SHARE = saving.MAX_BYTES = saving.MIN_BYTES_BESIDE = 0
        saving.MAX_SHARE_BESIDE = 1e9
    states = States(seed)
    index = built(states[1]) if k == 1 else Index.load(folder, embedder=hashed_words)
    while True:
        if k > 1:
            for change, after in changes_to(states[k - 1], k, seed):
                index = change.on(index, after)
        index = replace(index, skipped=(("k", str(k)),))
        say(f"saving {k}")
        index.save(folder)
        say(f"saved {k}")
        k += 1


def serve() -> None:
    """Fork a writer for every line "folder k seed" on standard input, until it is killed."""
    in_place.MIN_PASSAGES, in_place.MAX_CHANGED, manifest.MIN_AGE = 0, 0.5, 0.0
    saving.MIN_BYTES, saving.MAX_SHARE, saving.MAX_CHANGES = 0, 1e9, 8
    with tempfile.TemporaryDirectory() as name:  # all that is loaded late is loaded now
        index = built(first_state(0))
        index.save(name)
        index.delete(index.documents[0].id).save(name)
        Index.load(name, embedder=hashed_words)
    say("ready")
    for line in sys.stdin:
        folder, k, seed = line.rstrip("\n").split("\t")
        child = os.fork()
        if child == 0:
            go_on(Path(folder), int(k), int(seed))
        say(f"pid {child}")
        _, status = os.waitpid(child, 0)
        say(f"dead {-os.waitstatus_to_exitcode(status)}")


class Writers:
    """The process that forks writers; what it says is read line by line."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.kills_over_changes", "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        assert self.process.stdout.readline() == "ready\n"
        self.pace = self.save = 0.0

    def close(self) -> None:
        """End it, which has no writer any more."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def kill_one(
        self, folder: Path, k: int, seed: int, chance: random.Random
    ) -> list[tuple[str, int]]:
        """Start a writer at state k, kill it, and return what it had said.

        Half of them are killed at any moment, half while or just after they save.

        Args:
            folder: Where it saves.
            k: The state that it saves first.
            seed: Of the states.
            chance: Of the moments.
        """
        print(folder, k, seed, sep="\t", file=self.process.stdin, flush=True)
        said: list[tuple[str, int]] = []
        while (line := self._line())[0] != "pid":
            said.append(line)
        child = line[1]
        if not self.pace:
            self._measure(said)
        if chance.random() < 0.5:
            time.sleep(chance.uniform(0, 6 * self.pace))
        else:
            begun = ("saving", max([k - 1, *(n for _, n in said)]) + chance.randint(1, 3))
            while begun not in said:
                said.append(self._line())
            time.sleep(chance.uniform(0, 1.5 * self.save))
        os.kill(child, signal.SIGKILL)
        while (line := self._line())[0] != "dead":
            said.append(line)
        assert line[1] == signal.SIGKILL, f"a writer ended by itself, by {line[1]}; see its error"
        return said

    def _line(self) -> tuple[str, int]:
        word, number = self.process.stdout.readline().split()
        return word, int(number)

    def _measure(self, said: list[tuple[str, int]]) -> None:
        """Let the first writer save ten times, and keep the time of a state and of its save."""
        while ("saved", 2) not in said:
            said.append(self._line())
        at = [time.perf_counter()]
        for _ in range(20):
            said.append(self._line())
            at.append(time.perf_counter())
        self.pace = (at[-1] - at[0]) / 10
        self.save = sum(at[2::2]) / 10 - sum(at[1::2]) / 10


def what_is_wrong(index: Index, state: State) -> str:
    """Return in what an index is not the one of a state; empty where it is."""
    if {one.id: one.text for one in index.documents} != dict(state):
        return "the documents are others"
    if {id: list(triples) for id, triples in index.facts.items()} != facts_of(state):
        return "the facts are others"
    anew = built({one.id: one.text for one in index.documents})
    if described(index.graph)[:2] != described(anew.graph)[:2]:
        return "the graph has other nodes or facts"
    question = f"Which ferry sails from {PLACES[0]} at 9 o'clock?"
    mine, theirs = (
        [(item.id, item.score) for item in one.ask(question, recipe="bm25", limit=10)]
        for one in (index, anew)
    )
    return "" if mine == theirs else "bm25 answers otherwise"


def look(folder: Path, states: States, last: int, found: Kills) -> int:
    """Open what is there, add what is wrong, and return the number of the last save."""
    where = f"seed {states.seed}, after save {last}"
    try:
        index = Index.load(folder, embedder=hashed_words, verify="full")
        damages = [each.damage for each in store.check(folder) if each.damage]
    except (OSError, ValueError) as error:
        if last or generations(folder):  # before the first save has returned there may be nothing
            found.failures.append(f"{where}: {error}")
        return last
    found.failures += [f"{where}: {damage}" for damage in damages]
    k = int(index.skipped[0][1])
    if not last <= k <= last + 1:
        found.failures.append(f"{where}: state {k} is there")
    elif reason := what_is_wrong(index, states[k]):
        found.failures.append(f"{where}, state {k}: {reason}")
    found.newer += k == last + 1
    newest = max(generations(folder))
    found.as_change += any((folder / "data").glob(f"changes-{newest:08d}-*"))
    begun = {int(file.name.split("-")[-2]) for file in (folder / "data").iterdir()}
    found.unfinished += max(begun) > newest
    return max(k, last)


def kill_writers(kills: int, seed: int = 1, kills_per_folder: int = KILLS_PER_FOLDER) -> Kills:
    """Kill one writer after another, and look at what each leaves.

    Args:
        kills: How many.
        seed: Of the states and the moments; each folder has its own states.
        kills_per_folder: After how many a new folder is begun.
    """
    found, chance, writers = Kills(), random.Random(seed), Writers()
    try:
        while found.kills < kills:
            folder, states, last = (
                Path(tempfile.mkdtemp(dir=IN_MEMORY)),
                States(chance.randrange(10**9)),
                0,
            )
            for _ in range(min(kills_per_folder, kills - found.kills)):
                said = writers.kill_one(folder / "index", last + 1, states.seed, chance)
                saved = [k for word, k in said if word == "saved"]
                found.kills += 1
                found.acknowledged += len(saved)
                found.in_save += bool(said) and said[-1][0] == "saving"
                last = max([last, *saved])
                states[max(last, 1)]
                found.changed.update(kind for k in saved for kind in states.kinds[k])
                last = look(folder / "index", states, last, found)
            shutil.rmtree(folder)
    finally:
        writers.close()
    return found


def main() -> int:
    """Kill writers, and return 1 where something was lost or is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    found = kill_writers(options.kills, options.seed)
    kinds = ", ".join(f"{kind} {found.changed[kind]:,}" for kind in CHANGES)
    print(
        f"{found.kills:,} killed, {found.in_save:,} of them in a save, {found.unfinished:,} with files left; "
        f"{found.acknowledged:,} saves acknowledged, with {kinds}; the save being made was there "
        f"{found.newer:,} times; the newest generation was a change {found.as_change:,} times; "
        f"{len(found.failures)} failures"
    )
    print("\n".join(found.failures))
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
