"""The prepared sets: where each comes from, what prepares it, and whose questions it cannot answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from clew.measure.files import read_lines
from tests.benchmarks.everyday_corpora import Source, archive_texts
from tests.benchmarks.prepare import (
    abstracts,
    chats,
    faq,
    functions,
    manuals,
    meetings,
    paragraphs,
    posts,
    support,
)
from tests.benchmarks.prepare.checkout import Checkout
from tests.benchmarks.prepare.material import (
    Draft,
    Material,
    answered_records,
    checked,
    half_of,
    write,
    write_files,
    write_questions,
)
from tests.benchmarks.prepare.package import DebianPackage

XQUAD = Checkout("google-deepmind/xquad", "7d30520c717524000f0d9d2f9c10a069acd9d285")
CRANFIELD = Checkout("oussbenk/cranfield-trec-dataset", "1208e6edfb6cb2527b2c44398d3d8fefd3249144")
CISI = Checkout(
    "Shakiba-Alipour/Information-Retrieval-on-CISI", "7a23c34602e8949d795bb1835004546e00d1d1ba"
)
QMSUM = Checkout("Yale-LILY/QMSum", "83d7768c1f2b4dfeb091385d3dc7e239b8e5bb7e")
MOLWENI = Checkout("HIT-SCIR/Molweni", "2eb681d7e610ee3fda4ab3b4cc364554bd17ee67")

COSQA = Checkout("Jun-jie-Huang/CoCLR", "14ebcacf9e9bc3e7109102632bc63047876f27d2")
AWS = Checkout("siagholami/aws-documentation", "2d06ee9011f3192b2ff38c09f04e01f1ea9e0191")
PYTHON = Checkout(
    "MegaPlayerXD/python-documentation-html", "a8aaab7c70c92439c10e469a1e9dd8cc24ea0053"
)
CONALA = Checkout("zorazrw/multilingual-conala", "b48112fe492432507d72004aafb6f0c399308333")
DOCPROMPTING = Checkout("shuyanzhou/docprompting", "0a89d2b624dd62c81143c84e1273a36ea6c3c8ea")
PYTHON_LIBRARY = DebianPackage("python3.11-doc", "usr/share/doc/python3.11/html")
TLDR = Checkout("tldr-pages/tldr", "08e345f42639f67d99282813247ac670dc6e87cb")
GIT_PAGES = Checkout("gitster/git-manpages", "29c9faa24714fc374490d4f8aa4589e509dc59e4")
BSD_PAGES = Checkout("chimera-linux/chimerautils", "8a71251d1846185899600a7484ac0f522dea8740")
COMMONS = Checkout("apache/commons-lang", "d15939ef46f0bd4144994df8be95cf5a7f91eb52")
CADDY = Checkout("caddyserver/caddy", "0cf03d32f7d99cf160d5375e8a40fbe3d910d515")
OPENLAYERS = Checkout("openlayers/openlayers", "58a284c3469e6d5601a8ff95f5bb60cf877c0244")
RIPGREP = Checkout("BurntSushi/ripgrep", "3fce3b5bb0236da2df6d99672afb8a719642eca7")
VALKEY = Checkout("valkey-io/valkey", "55bbbe09a3b37a98c907dbfbc225768ff253e84f")
CHECKOUTS = (
    AWS,
    BSD_PAGES,
    CADDY,
    CISI,
    COMMONS,
    CONALA,
    COSQA,
    CRANFIELD,
    DOCPROMPTING,
    GIT_PAGES,
    MOLWENI,
    OPENLAYERS,
    PYTHON,
    QMSUM,
    RIPGREP,
    TLDR,
    VALKEY,
    XQUAD,
)
EVERYDAY = Path(__file__).parents[1] / "everyday"  # questions that were written
PACKAGES = (PYTHON_LIBRARY,)
LARGEST = 120_000  # characters of a source file
AWS_FILES = 400


def _rst(package: str, archive: str, sha256: str, docs: str) -> Source:
    base = f"{archive.removesuffix('.tar.gz')}/{docs}/"
    return Source(package, archive, sha256, ("",), ".rst", base, package, max_bytes=200_000)


MANUALS = (
    _rst(
        "celery",
        "celery-5.7.0.tar.gz",
        "6a5dfcf6662287204f009a02002b9e66c83d4105e47ebabdc7079108772fc6f0",
        "docs",
    ),
    _rst(
        "borgbackup",
        "borgbackup-1.4.5.tar.gz",
        "4f9a5fe584c504b15485841236750dea16aa7cd2ddbc4a594e9d2ce5c49c4508",
        "docs",
    ),
    _rst(
        "cython",
        "cython-3.3.1.tar.gz",
        "e0e45989e821bef6aa9ae15c7d583ab5e055f7406c4b3624e49e06d24e90375a",
        "docs",
    ),
    _rst(
        "numba",
        "numba-0.68.1.tar.gz",
        "9de461812470173a14eeb7e0bbd27c897dffe835402a33861166842fc5f6ea57",
        "docs/source/user",
    ),
    _rst(
        "mypy",
        "mypy-2.4.1.tar.gz",
        "63b590965691e540a335fa74dadf31a7069142f6b72e234689bbd244edf55623",
        "docs/source",
    ),
    _rst(
        "tables",
        "tables-3.9.2.tar.gz",
        "d470263c2e50c4b7c8635a0d99ac1ff2f9e704c24d71e5fa33c4529e7d0ad9c3",
        "doc/source",
    ),
)
HANDBOOKS = (
    Source(
        "lxml",
        "lxml-6.1.3.tar.gz",
        "45222d94ddd511536f3b2f7d9deae3b2339b4ce0f075f1ca25703b07cad9dd21",
        ("",),
        ".html",
        "lxml-6.1.3/doc/html/",
        "lxml",
        max_bytes=300_000,
    ),
    Source(
        "roundup",
        "roundup-2.6.0.tar.gz",
        "12fd8fb806047415f22131f965c6ab4026a28dc63f7054e055c8f891950591d4",
        ("",),
        ".html",
        "roundup-2.6.0/share/doc/roundup/html/",
        "roundup",
        max_bytes=300_000,
    ),
)
NETWORKX = Source(
    "networkx",
    "networkx-3.7-py3-none-any.whl",
    "e3fd2c13a7814cee3746340d8d7f8598a67f16a58bf47fb7f8793fab6efca1b0",
    ("networkx/algorithms",),
    ".py",
    "",
)
TESTS = re.compile(r"(?:^|[/_.])tests?(?:[/_.]|$)")
NEWS = re.compile(
    r"(?i)change|history|release|whatsnew|news|genindex|modindex|search\.html|/tests?/"
)


@dataclass(frozen=True)
class Store:
    """Where the material comes from.

    Attributes:
        sources: The folder of clones and packages; None if there is none.
        index_url: The package index; None for the one that pip uses.
        per_half: So many questions a half at most; None for the number of each set.
    """

    sources: Path | None
    index_url: str | None = None
    per_half: int | None = None

    def checkout(
        self, source: Checkout | DebianPackage, keep: Callable[[str], bool]
    ) -> dict[str, str]:
        """Return the wanted texts of a clone or a package, by path."""
        if self.sources is None:
            raise ValueError(
                "name the folder of clones with --sources SOURCES; what is wanted comes there "
                f"with: {source.commands()}"
            )
        return source.read(self.sources, keep)

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


def _chats(store: Store) -> tuple[Material, Sequence[Draft]]:
    questions, *others = "MRC(withDiscourse)/test.json", "DP/dev.json", "DP/test.json"
    texts = store.checkout(MOLWENI, lambda path: path in (questions, *others))
    return chats.prepare(texts[questions], [texts[path] for path in others]), ()


def _paragraphs(
    language: str, part: int, parts: int = 4, *, spaced: bool = True
) -> Callable[[Store], tuple[Material, Sequence[Draft]]]:
    path = f"xquad.{language}.json"

    def prepare(store: Store) -> tuple[Material, Sequence[Draft]]:
        text = store.checkout(XQUAD, lambda name: name == path)[path]
        return paragraphs.prepare(text, (part, parts), spaced=spaced)

    return prepare


def _python(store: Store) -> tuple[Material, Sequence[Draft]]:
    folders = ("faq/", "tutorial/", "howto/", "reference/", "using/", "library/")

    def keep(path: str) -> bool:
        return path.startswith(folders) and path.endswith(".html")

    texts = store.checkout(PYTHON, keep)
    small = {path: text for path, text in texts.items() if len(text) <= LARGEST}
    return faq.prepare(small, lambda path: path.startswith("faq/")), ()


def _from_archives(*sources: Source) -> Callable[[Store], tuple[Material, Sequence[Draft]]]:
    def prepare(store: Store) -> tuple[Material, Sequence[Draft]]:
        texts = store.archives(*sources)
        kept = {path: text for path, text in texts.items() if not NEWS.search(path)}
        return faq.prepare(kept, lambda path: PurePosixPath(path).stem.lower() == "faq"), ()

    return prepare


def _library(store: Store) -> dict[str, str]:
    return store.checkout(
        PYTHON_LIBRARY, lambda path: path.startswith(posts.FOLDER) and path.endswith(".html")
    )


def _written(name: str) -> Callable[[Store], tuple[Material, Sequence[Draft]]]:
    def prepare(store: Store) -> tuple[Material, Sequence[Draft]]:
        questions = EVERYDAY.joinpath(f"{name}.jsonl").read_text("utf-8")
        return posts.prepare_written(_library(store), questions), ()

    return prepare


def _posts(store: Store) -> tuple[Material, Sequence[Draft]]:
    path = "dataset/train/train.json"
    titles = store.checkout(CONALA, lambda name: name == path)[path]
    answers = store.checkout(
        DOCPROMPTING, lambda name: bool(re.match(r"data/conala/cmd_\w+\.oracle_man", name))
    )
    return posts.prepare_posts(_library(store), titles, answers.values()), ()


def _support(store: Store) -> tuple[Material, Sequence[Draft]]:
    texts = store.checkout(AWS, lambda path: path.endswith((".md", "QA_true.csv")))
    questions = texts.pop("QA_true.csv")
    files = {
        f"{path.split('/')[1]}/{PurePosixPath(path).name}": text
        for path, text in texts.items()
        if "/doc_source/" in path and not NEWS.search(path)
    }
    return support.prepare(files, questions, AWS_FILES), ()


def _commands(store: Store) -> tuple[Material, Sequence[Draft]]:
    is_page = re.compile(r"\.[1-8]$").search
    pages = store.checkout(GIT_PAGES, lambda path: bool(is_page(path)))
    pages |= store.checkout(BSD_PAGES, lambda path: bool(is_page(path)))
    texts = store.checkout(TLDR, lambda path: path.startswith(("pages/common/", "pages/linux/")))
    examples = {PurePosixPath(path).stem: texts[path] for path in sorted(texts, reverse=True)}
    return manuals.prepare(pages, examples, {"git": "git: "}), ()


def _code(
    name: str, checkout: Checkout, folder: str, suffix: str, largest: int = LARGEST
) -> Callable[[Store], tuple[Material, Sequence[Draft]]]:
    def prepare(store: Store) -> tuple[Material, Sequence[Draft]]:
        texts = store.checkout(
            checkout,
            lambda path: (
                path.startswith(folder) and path.endswith(suffix) and not TESTS.search(path)
            ),
        )
        small = {path: text for path, text in texts.items() if len(text) <= largest}
        return functions.prepare(small, name, store.per_half or functions.PER_HALF), ()

    return prepare


def _graphs(store: Store) -> tuple[Material, Sequence[Draft]]:
    texts = store.archives(NETWORKX)
    own = {path: text for path, text in texts.items() if not TESTS.search(path)}
    return functions.prepare(own, "graphs", store.per_half or functions.PER_HALF), ()


def _queries(store: Store) -> tuple[Material, Sequence[Draft]]:
    records = [f"data/search/cosqa-retrieval-{part}-500.json" for part in ("dev", "test")]
    codes = "data/search/code_idx_map.txt"
    texts = store.checkout(COSQA, lambda path: path in (codes, *records))
    queries = [texts[path] for path in records]
    return functions.prepare_queries(texts[codes], queries, others=1_500), ()


SETS: dict[str, PreparedSet] = {
    "python": PreparedSet("documentation", _python, "support"),
    "howto": PreparedSet("documentation", _written("howto"), "support"),
    "tasks": PreparedSet("documentation", _written("tasks"), "support"),
    "chores": PreparedSet("documentation", _written("chores"), "support"),
    "posts": PreparedSet("documentation", _posts, "support"),
    "handbooks": PreparedSet("documentation", _from_archives(*HANDBOOKS), "support"),
    "manuals": PreparedSet("documentation", _from_archives(*MANUALS), "handbooks"),
    "support": PreparedSet("documentation", _support, "python"),
    "commands": PreparedSet("documentation", _commands, "support"),
    "graphs": PreparedSet("code", _graphs, "server"),
    "server": PreparedSet("code", _code("server", CADDY, "", ".go"), "graphs"),
    "maps": PreparedSet("code", _code("maps", OPENLAYERS, "src/ol/", ".js", 30_000), "database"),
    "strings": PreparedSet("code", _code("strings", COMMONS, "src/main/java/", ".java"), "maps"),
    "grep": PreparedSet("code", _code("grep", RIPGREP, "crates/", ".rs"), "maps"),
    "database": PreparedSet("code", _code("database", VALKEY, "src/", ".c"), "graphs"),
    "queries": PreparedSet("code", _queries, "commands"),
    "cranfield": PreparedSet("abstracts", _cranfield, "cisi"),
    "cisi": PreparedSet("abstracts", _cisi, "cranfield"),
    "meetings": PreparedSet("meetings", _meetings, "cisi"),
    "chats": PreparedSet("chats", _chats, "support"),
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


def further_folder(name: str, cache: Path, store: Store, per_half: int) -> tuple[Path, Path]:
    """Return the folder of a set that is prepared with more questions, and those that are new.

    They are of the half `held`, in the drawn order behind those that the set has. The folder is one
    of its own: what is asked is cut out of the files of some sets.

    Args:
        name: as in `prepared_folder`.
        cache: likewise.
        store: likewise.
        per_half: so many questions a half, with those that the set has.
    """
    folder, questions = (cache / f"{name}-further{end}" for end in (f"-{per_half}", ".jsonl"))
    _, asked = prepared_folder(name, cache, store)
    known = {record["question"] for _, record in read_lines(asked)}
    material, _ = SETS[name].prepare(replace(store, per_half=per_half))
    material = replace(material, per_half=per_half)
    kept, _ = checked(material, name)
    new = [one for one in kept if half_of(one.group) == "held" and one.question not in known]
    write_files(material.files, folder)
    write_questions(questions, answered_records(f"{name}-further", new))
    return folder, questions
