"""The questions of `code_questions.py` on programs in C, C++, Go, Java, JavaScript, Rust and TypeScript.

    python -m tests.benchmarks.code_languages --language go --folder COBRA
    python -m tests.benchmarks.code_languages --language java --folder GSON/gson/src/main/java
    python -m tests.benchmarks.code_languages --language rust --folder WALKDIR
    python -m tests.benchmarks.code_languages --language c cpp --folder VALKEY/src LEVELDB --half tune

The folder is a clone. Gold is made by rule, of the text alone, by regular expressions that have nothing in
common with the parsers of `clew.Symbols`: comments and texts in quotes become spaces, a definition
is a line that begins as the language has it, and "who calls" has the lines on which the name stands
before a bracket. What a name means is not looked up; so who calls is asked only of names of two words
that the folder defines once and no standard library has (`KNOWN`). Tests are left out. The rules were
checked by hand over the questions of `--show`. The half of a question is that of the file that defines what it
asks for; choose by `--half tune` alone.

The figure of a question is the share of its gold lines that are in passages that are read within
the budget: by `fused` over the passages alone, which is the baseline, and by the recipes over an
index with `--names`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import clew
from clew.cli.source import TOKENS
from clew.measure.paired import Table, build_table
from clew.read import Splitter
from tests.benchmarks.code_questions import (
    MAX_GOLD,
    PER_KIND,
    TEMPLATES,
    Place,
    Question,
    line_starts,
    measure,
)
from tests.benchmarks.everyday import pooled
from tests.benchmarks.prepare.material import half_of

TESTS = re.compile(r"(?:^|[/_.])(?:tests?|examples?|benches)(?:[/_.]|$)")
NO_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|r(#*)\".*?\"\1|\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\])*\"|`[^`]*`"
    r"|'(?:\\[^'\n]{1,8}|[^'\\\n])'",
    re.DOTALL,
)
BRACES = re.compile(r"[{}]")
NAME = re.compile(r"[A-Za-z_]\w*")
DISTINCTIVE = re.compile(r"[a-z][A-Z]|[a-z]_[a-z]")  # a name of two words
KNOWN = frozenset(  # that programs call on what is not theirs
    """addAll asList containsKey endsWith entrySet equalsIgnoreCase file_name file_type findAll getClass getKey
    getMessage getName getOrDefault getSimpleName getType getValue hashCode hasNext hasPrefix indexOf
    instanceOf intValue into_iter isArray isEmpty isInstance isInterface is_dir is_empty is_file keySet
    longValue next_back parseInt putAll read_dir read_link replaceAll size_hint startsWith
    symlink_metadata toArray toString valueOf with_capacity""".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Language:
    """How programs of a language are written.

    Attributes:
        suffix: Of its files; one or several.
        function: The start of the definition of a function or method, to its name, which is a group.
        type: The same of a type.
        bases: The start of a type, or of its implementation of another: the groups `name` and `bases`.
        required: A function of a type that whoever implements the type must define; None where the
            language has no such mark.
        required_of_class: The same of a type that is a class, where that differs.
        declared: What stands on a line before a name that is declared there and not called.
        no_code: Comments and texts in quotes.
    """

    suffix: str | tuple[str, ...]
    function: re.Pattern[str]
    type: re.Pattern[str]
    bases: re.Pattern[str] | None
    required: re.Pattern[str] | None
    required_of_class: re.Pattern[str] | None = None
    declared: re.Pattern[str] | None = None
    no_code: re.Pattern[str] = NO_CODE


NO_FUNCTION = r"(?!(?:if|else|for|while|switch|catch|return|function|new|do|throw|await|typeof)\b)"
ARGUMENTS = r"\((?:[^;{}()]|\([^;{}()]*\))*\)"
TYPE_ARGUMENTS = r"(?:<[^(){};\n]*>)?"
DECLARED = re.compile(  # in C and C++: a type
    r"[ \t]*(?!(?:return|else|throw|case|new|delete|goto|do)\b)[A-Za-z_][\w:<>,]*[ \t*&]+(?:[\w:<>,]+[ \t*&]+)*"
)
SCRIPT_NO_CODE = re.compile(  # in JavaScript and TypeScript, where ' is as "
    r"//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL
)
SCRIPT_FUNCTION = (  # of JavaScript and TypeScript, to the name
    r"^[ \t]*(?:(?:export|default|async|declare)\s+)*(?:function\*?\s+|"
    r"(?:(?:public|private|protected|static|readonly|override|async|get|set)\s+)*\*?"
    rf"{NO_FUNCTION}(?=[\w$]+{TYPE_ARGUMENTS}\s*\((?:[^;()]|\((?:[^;()]|\([^;()]*\))*\))*\)\s*(?::[^;=\n]+)?\{{))"
    r"([A-Za-z_$][\w$]*)"
)
JAVA_MARKS = (
    r"(?:(?:public|protected|private|static|final|abstract|synchronized|native|default|sealed)\s+)"
)
RUST_MARKS = r"(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|unsafe|async|default)\s+)*"
LANGUAGES = {
    "go": Language(
        ".go",
        re.compile(r"^func\s+(?:\([^)\n]*\)\s*)?(\w+)\s*[(\[]", re.MULTILINE),
        re.compile(r"^type\s+(\w+)\s", re.MULTILINE),
        None,
        re.compile(r"^\t(\w+)\(", re.MULTILINE),
    ),
    "java": Language(
        ".java",
        re.compile(
            rf"^[ \t]+{JAVA_MARKS}*(?:<[^>\n]*(?:<[^>\n]*>)?[^>\n]*>\s+)?(?!(?:return|new|else|throw|case|assert|public|protected|private)\b)"
            r"[A-Za-z][\w.]*(?:<[^;(){}=\n]*>)?(?:\[\])*\s+(\w+)\s*\((?=[^;{}()]*\)[^;{}()]*[;{])",
            re.MULTILINE,
        ),
        re.compile(
            rf"^[ \t]*{JAVA_MARKS}*(?:class|interface|enum|record)\s+(\w+)", re.MULTILINE
        ),
        re.compile(
            rf"^[ \t]*{JAVA_MARKS}*(?:class|interface|enum)\s+(?P<name>\w+)(?P<bases>[^{{;]*)\{{",
            re.MULTILINE,
        ),
        re.compile(r"^[ \t]+(?:(?:public|protected|abstract)\s+)*(?!(?:return|throw|new)\b)[A-Za-z][\w.<>?,\[\] ]*\s(\w+)\s*\([^;{}()]*\)[^;{}()]*;", re.MULTILINE),
    ),
    "rust": Language(
        ".rs",
        re.compile(rf"^[ \t]*{RUST_MARKS}fn\s+(\w+)", re.MULTILINE),
        re.compile(rf"^[ \t]*{RUST_MARKS}(?:struct|enum|trait|union)\s+(\w+)", re.MULTILINE),
        re.compile(r"^[ \t]*(?:unsafe\s+)?impl(?:<[^{]*?>)?\s+(?P<bases>\w+)(?:<[^{;]*?>)?\s+for\s+(?P<name>\w+)", re.MULTILINE),
        re.compile(r"^[ \t]+fn\s+(\w+)[^{};]*;", re.MULTILINE),
    ),
    "javascript": Language(
        (".js", ".mjs"),
        re.compile(SCRIPT_FUNCTION, re.MULTILINE),
        re.compile(r"^[ \t]*(?:(?:export|default)\s+)*class\s+(\w+)", re.MULTILINE),
        re.compile(r"^[ \t]*(?:(?:export|default)\s+)*class\s+(?P<name>\w+)\s+extends\s+(?P<bases>[\w.]+)", re.MULTILINE),
        None,
        no_code=SCRIPT_NO_CODE,
    ),
    "typescript": Language(
        (".ts", ".tsx"),
        re.compile(SCRIPT_FUNCTION, re.MULTILINE),
        re.compile(r"^[ \t]*(?:(?:export|default|declare|abstract)\s+)*(?:class|interface|enum)\s+(\w+)", re.MULTILINE),
        re.compile(
            r"^[ \t]*(?:(?:export|default|declare|abstract)\s+)*(?:class|interface)\s+(?P<name>\w+)(?:<[^{]*?>)?\s+(?P<bases>(?:extends|implements)\b[^{]*)\{",
            re.MULTILINE,
        ),
        re.compile(rf"^[ \t]+(\w+){TYPE_ARGUMENTS}{ARGUMENTS}\s*:", re.MULTILINE),
        re.compile(rf"^[ \t]+(?:(?:public|protected)\s+)?abstract\s+(?:(?:public|protected|readonly)\s+)?(\w+){TYPE_ARGUMENTS}{ARGUMENTS}\s*:", re.MULTILINE),
        no_code=SCRIPT_NO_CODE,
    ),
    "c": Language(
        (".c", ".h"),
        re.compile(rf"^{NO_FUNCTION}[A-Za-z_][\w \t*]*[ \t*](\w+)(?={ARGUMENTS}\s*\{{)", re.MULTILINE),
        re.compile(r"^(?:typedef\s+)?(?:struct|union|enum)\s+(\w+)(?=\s*\{)", re.MULTILINE),
        None,
        None,
        declared=DECLARED,
    ),
    "cpp": Language(
        (".cc", ".cpp", ".h", ".hpp"),
        re.compile(
            rf"^[ \t]*(?:[A-Za-z_][\w:<>,*& \t]*[ \t*&](?:\w+::)*|(?:\w+::)+){NO_FUNCTION}(\w+)"
            rf"(?={ARGUMENTS}\s*(?:(?:const|override|noexcept|final)\b\s*)*(?::[^;{{}}]*)?\{{)",
            re.MULTILINE,
        ),
        re.compile(r"^[ \t]*(?:class|struct|union|enum(?:\s+class)?)\s+(?:[A-Z_]+\s+)?(\w+)(?=[^;(){}]*\{)", re.MULTILINE),
        re.compile(r"^[ \t]*(?:class|struct)\s+(?:[A-Z_]+\s+)?(?P<name>\w+)\s*(?:final\s*)?:(?!:)(?P<bases>[^{;]*)\{", re.MULTILINE),
        re.compile(r"^[ \t]+virtual\s[^;{}]*?(\w+)\s*\([^;{}]*\)[^;{}()]*=\s*0\s*;", re.MULTILINE),
        declared=DECLARED,
    ),
}  # fmt: skip
NO_BASES = {"extends", "implements", "public", "private", "protected", "virtual"}


class Reference:
    """What the rules know of a folder.

    Args:
        folder: The folder.
        language: A key of `LANGUAGES`.

    Attributes:
        texts: The texts of its files, by their paths.
        defined: The lines that define each name.
        called: The lines on which each name of a function stands before a bracket.
        below: The lines on which something inherits from each type, or implements it.
        required: The lines of the functions that each type requires.
    """

    def __init__(self, folder: Path, language: str) -> None:
        self.language = LANGUAGES[language]
        self.texts = {
            path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(folder.rglob("*"))
            if path.name.endswith(self.language.suffix)
            and not TESTS.search(path.relative_to(folder).as_posix())
        }
        if not self.texts:
            raise FileNotFoundError(f"{folder} has no files {self.language.suffix} but of tests")
        self.defined: defaultdict[str, list[Place]] = defaultdict(list)
        self.called: defaultdict[str, set[Place]] = defaultdict(set)
        self.below: defaultdict[str, set[Place]] = defaultdict(set)
        self.required: defaultdict[str, set[Place]] = defaultdict(set)
        self.functions: set[str] = set()
        self.types: set[str] = set()
        no_code = self.language.no_code
        codes = {file: no_code.sub(_blank, text) for file, text in self.texts.items()}
        for file, code in codes.items():
            self._define(file, code)
        required = {place for places in self.required.values() for place in places}
        for file, code in codes.items():
            for match in NAME.finditer(code):
                bracket = re.match(r"(?:::<[^()\n]*>)?\(", code[match.end() : match.end() + 60])
                if bracket and match[0] in self.defined and not self._is_declared(code, match):
                    place = (file, _line(code, match.start()))
                    if place not in self.defined[match[0]] and place not in required:
                        self.called[match[0]].add(place)

    def _is_declared(self, code: str, name: re.Match[str]) -> bool:
        start = code.rfind("\n", 0, name.start()) + 1
        declared = self.language.declared
        return bool(declared and declared.fullmatch(code, start, name.start()))

    def _define(self, file: str, code: str) -> None:
        for match in self.language.function.finditer(code):
            self.functions.add(match[1])
            self.defined[match[1]].append((file, _line(code, match.start(1))))
        for match in self.language.type.finditer(code):
            self.types.add(match[1])
            self.defined[match[1]].append((file, _line(code, match.start(1))))
            begin, body = _own_body(code, match.end())
            required = self.language.required
            if "class" in match[0]:
                required = self.language.required_of_class or required
            for inner in required.finditer(body) if required else ():
                self.required[match[1]].add((file, _line(code, begin + inner.start(1))))
        for match in self.language.bases.finditer(code) if self.language.bases else ():
            listed = re.sub(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>", " ", match["bases"])
            for base in set(NAME.findall(listed)) - NO_BASES:
                self.below[base].add((file, _line(code, match.start("name"))))

    def questions(self, seed: int, half: str = "all") -> list[Question]:
        """Return the questions on the folder, or of one half, drawn and worded by chance."""
        rng = random.Random(seed)
        times = Counter(name.lower() for name, places in self.defined.items() for _ in places)
        once = sorted(
            name
            for name, places in self.defined.items()
            if times[name.lower()] == 1 and half in ("all", half_of(places[0][0]))
        )
        methods = [name for name in once if name in self.functions and _is_distinctive(name)]
        types = [name for name in once if name in self.types]
        of_kind: Mapping[str, list[tuple[str, list[Place]]]] = {
            "calls": [(name, sorted(self.called[name])) for name in methods],
            "defined": [(name, self.defined[name]) for name in methods + types],
            "inherits": [(name, sorted(self.below[name])) for name in types],
            "implement": [(name, sorted(self.required[name])) for name in types],
        }
        questions = []
        for kind, found in of_kind.items():
            usable = [(name, gold) for name, gold in found if 0 < len(gold) <= MAX_GOLD]
            for name, gold in rng.sample(usable, min(PER_KIND[kind], len(usable))):
                text = rng.choice(TEMPLATES[kind]).format(name)
                questions.append(Question(text, kind, tuple(gold)))
        return questions


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _is_distinctive(name: str) -> bool:
    return bool(DISTINCTIVE.search(name)) and name not in KNOWN


def _own_body(code: str, start: int) -> tuple[int, str]:
    """Return the place of the next brackets `{}` and what is in them, blank where it is deeper."""
    begin, end = code.find("{", start), code.find(";", start)
    if begin < 0 or 0 <= end < begin:
        return start, ""
    depth, own, last = 0, list[str](), begin + 1
    for match in BRACES.finditer(code, begin):
        inside = code[last : match.start()]
        own.append(inside if depth == 1 else re.sub(r"[^\n]", " ", inside))
        own.append(match[0] if depth else "")
        depth, last = depth + (1 if match[0] == "{" else -1), match.end()
        if not depth:
            break
    return begin + 1, "".join(own)


def compare(language: str, folder: Path, options: argparse.Namespace) -> Table:
    """Print the tables of one folder, one for each kind of question, and return that of all."""
    reference = Reference(folder, language)
    questions = reference.questions(options.seed, options.half)
    if options.show:
        for question in questions:
            print(json.dumps([question.kind, question.text, question.gold]))
    documents = [
        document
        for document in clew.read.load_documents(folder).documents
        if document.id in reference.texts
    ]
    lines = {document.id: line_starts(document.text) for document in documents}
    figures, seconds = dict[str, dict[str, list[float]]](), list[float]()
    for label, extractor in {"": None, " + names": clew.NamesAndSymbols()}.items():
        started = time.perf_counter()
        index = clew.Index.from_documents(
            documents, splitter=Splitter(tokens=TOKENS), extractor=extractor
        )
        seconds.append(time.perf_counter() - started)
        for recipe in options.recipes:
            figures[f"{recipe}{label}"] = measure(index, recipe, questions, lines)
    name = f"{folder.name} ({language})"
    print(
        f"## {name}: {len(questions)} questions, {len(documents)} files, read in "
        f"{seconds[0]:.1f} s, with names in {seconds[1]:.1f} s\n"
    )
    table = build_table(name, figures, options.recipes[0])
    print(table.to_markdown(intervals=True), flush=True)
    for kind in PER_KIND:
        rows = [i for i, question in enumerate(questions) if question.kind == kind]
        if rows:
            own = {
                method: {column: [values[i] for i in rows] for column, values in of.items()}
                for method, of in figures.items()
            }
            print(f"\n### {name}, {kind}: {len(rows)} questions\n")
            print(build_table(kind, own, options.recipes[0]).to_markdown(intervals=False))
    print(flush=True)
    return table


SAMPLE = """package quay

// berthFerry is called nowhere, or is it? berthFerry()
func berthFerry(n int) string { return "waitForTide()" }

type Harbour interface {
	openGate(n int) error
	closeGate() error
}

func waitForTide(n int) string {
	return berthFerry(n) + berthFerry(n)
}
"""
SMOKE = "--sample"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--language", nargs="+", choices=list(LANGUAGES), default=[])
    parser.add_argument("--folder", nargs="+", type=Path, default=[], help="one for each language")
    parser.add_argument("--recipes", nargs="+", default=["fused", "hipporag"])
    parser.add_argument("--half", choices=("tune", "held", "all"), default="all")
    parser.add_argument("--seed", type=int, default=0, help="of the draw of questions")
    parser.add_argument("--show", action="store_true", help="print the questions and their gold")
    parser.add_argument("--sample", action="store_true", help="a program of ten lines")
    options = parser.parse_args()
    if options.sample:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "quay.go").write_text(SAMPLE, encoding="utf-8")
            compare("go", Path(folder), options)
        return
    if not options.folder or len(options.folder) != len(options.language):
        parser.error("name languages with --language, and as many folders with --folder")
    if missing := [folder for folder in options.folder if not folder.is_dir()]:
        raise FileNotFoundError(f"{missing[0]} is no folder")
    tables = [
        compare(language, folder, options)
        for language, folder in zip(options.language, options.folder, strict=True)
    ]
    if len(tables) > 1:
        print(f"## All {len(tables)} folders\n")
        print(pooled(tables, by_corpus=True).to_markdown(intervals=True))


if __name__ == "__main__":
    main()
