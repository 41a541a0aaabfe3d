"""The prepared sets: where each comes from, what prepares it, and whose questions it cannot answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.everyday_corpora import Source, archive_texts
from tests.benchmarks.prepare import abstracts, meetings, paragraphs
from tests.benchmarks.prepare.checkout import Checkout
from tests.benchmarks.prepare.material import Draft, Material, write

XQUAD = Checkout("google-deepmind/xquad", "7d30520c717524000f0d9d2f9c10a069acd9d285")
CRANFIELD = Checkout("oussbenk/cranfield-trec-dataset", "1208e6edfb6cb2527b2c44398d3d8fefd3249144")
CISI = Checkout(
    "Shakiba-Alipour/Information-Retrieval-on-CISI", "7a23c34602e8949d795bb1835004546e00d1d1ba"
)
QMSUM = Checkout("Yale-LILY/QMSum", "83d7768c1f2b4dfeb091385d3dc7e239b8e5bb7e")


@dataclass(frozen=True)
class Store:
    """Where the material comes from.

    Attributes:
        sources: The folder of clones; None if there is none.
        index_url: The package index; None for the one that pip uses.
    """

    sources: Path | None
    index_url: str | None = None

    def checkout(self, checkout: Checkout, keep: Callable[[str], bool]) -> dict[str, str]:
        """Return the wanted texts of a clone, by path."""
        if self.sources is None:
            raise ValueError(
                f"name the folder of clones with --sources SOURCES; {checkout.repository} comes "
                f"there with: {checkout.commands()}"
            )
        return checkout.read(self.sources, keep)

    def archives(self, *sources: Source) -> dict[str, str]:
        """Return the kept texts of archives of the package index, by path in the corpus."""
        return {
            path: data.decode("utf-8", "replace")
            for source in sources
            for path, data in archive_texts(source, self.index_url)
        }


@dataclass(frozen=True)
class PreparedSet:
    """One set.

    Attributes:
        group: What kind of folder it is.
        prepare: Makes its files and drafts, and the drafts that nothing answers, if it has some.
        foreign: The set whose questions are asked here, and nothing answers them; "" where
            `prepare` has its own.
    """

    group: str
    prepare: Callable[[Store], tuple[Material, Sequence[Draft]]]
    foreign: str = ""


def _cranfield(store: Store) -> tuple[Material, Sequence[Draft]]:
    texts = store.checkout(CRANFIELD, lambda path: path.startswith("cran"))
    collection = abstracts.read_xml(
        texts["cran.all.1400.xml"], texts["cran.qry.xml"], texts["cranqrel.trec.txt"]
    )
    return abstracts.prepare(collection), ()


def _cisi(store: Store) -> tuple[Material, Sequence[Draft]]:
    texts = store.checkout(CISI, lambda path: path.startswith("CISI"))
    collection = abstracts.read_smart(texts["CISI.ALL"], texts["CISI.QRY"], texts["CISI.REL"])
    return abstracts.prepare(collection), ()


def _meetings(store: Store) -> tuple[Material, Sequence[Draft]]:
    wanted = ("data/ALL/test/", "data/ALL/val/")
    return meetings.prepare(store.checkout(QMSUM, lambda path: path.startswith(wanted))), ()


def _paragraphs(
    language: str, part: int, *, spaced: bool = True
) -> Callable[[Store], tuple[Material, Sequence[Draft]]]:
    path = f"xquad.{language}.json"

    def prepare(store: Store) -> tuple[Material, Sequence[Draft]]:
        text = store.checkout(XQUAD, lambda name: name == path)[path]
        return paragraphs.prepare(text, (part, 4), spaced=spaced)

    return prepare


SETS: dict[str, PreparedSet] = {
    "cranfield": PreparedSet("abstracts", _cranfield, "cisi"),
    "cisi": PreparedSet("abstracts", _cisi, "cranfield"),
    "meetings": PreparedSet("meetings", _meetings, "cisi"),
    "german": PreparedSet("languages", _paragraphs("de", 0)),
    "spanish": PreparedSet("languages", _paragraphs("es", 1)),
    "russian": PreparedSet("languages", _paragraphs("ru", 2)),
    "chinese": PreparedSet("languages", _paragraphs("zh", 3, spaced=False)),
}


def prepared_folder(name: str, cache: Path, store: Store) -> tuple[Path, Path]:
    """Return the folder of a prepared set and its questions, made first if the cache has none.

    Args:
        name: A key of `SETS`.
        cache: Where corpora are kept, each in a folder of its name, its questions beside it.
        store: Where the material comes from.

    Raises:
        ValueError: A clone, a commit or an archive is missing, or no question is left.
    """
    folder, questions = cache / name, cache / f"{name}.jsonl"
    done = cache / f"{name}.complete"
    if done.exists():
        return folder, questions
    cache.mkdir(parents=True, exist_ok=True)
    wanted = SETS[name]
    material, unanswerable = wanted.prepare(store)
    if wanted.foreign:
        unanswerable = SETS[wanted.foreign].prepare(store)[0].drafts
    long_enough = [
        draft for draft in unanswerable if len(draft.question.split()) >= material.min_words
    ]
    fallen = write(name, material, long_enough, folder, questions)
    if not questions.read_text("utf-8").strip():
        raise ValueError(f"{name}: no question passes the rules: {dict(fallen)}")
    (cache / f"{name}.fallen.json").write_text(json.dumps(fallen, indent=1), "utf-8")
    done.touch()
    return folder, questions
