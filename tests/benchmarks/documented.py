"""`clew document` beside the hand-written reference of a package, and beside `pydoc`.

    python -m tests.benchmarks.documented --sdist click==8.5.1 --reference docs/api.md
    python -m tests.benchmarks.documented --sdist attrs==26.1.0 --reference docs/api.rst

The source distribution comes from the package index (`pip download`), or is a folder (`--folder`).
Its `src`, `tests`, `examples` and README are documented; its `docs` are not shown to the program.
The hand-written page is read by its directives (`autofunction`, `autoclass`, ...), with the members
that `:members:` adds. What is true of each name is asked of the package itself, by importing it.
Run it only on packages that you trust: importing runs them, which `clew document` does not.
"""

from __future__ import annotations

import argparse
import doctest
import importlib
import inspect
import pkgutil
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from clew.cli import main as clew

SMOKE = "--smoke"
DIRECTIVE = re.compile(
    r"^\.\. (?:py:)?(?P<kind>(?:auto)?(?:function|class|method|exception|data|attribute|decorator))::"
    r" +(?P<name>[\w.]+)|^\.\. (?:py:)?(?:current)?module:: +(?P<module>[\w.]+)"
    r"|^```\{(?:current)?module\} +(?P<myst>[\w.]+)|^ {2,4}:members:(?P<members>[ \w,]*)$",
    re.MULTILINE,
)
WORD = re.compile(r"[^\W_]+")
MARKUP = frozenset(["arg", "args", "argument", "arguments", "attr", "class", "data", "deprecated", "exc", "func", "keyword", "meth", "mod", "obj", "param", "parameter", "raise", "raises", "ref", "return", "returns", "rtype", "type", "version", "versionadded", "versionchanged", "added", "changed", "note", "code", "block", "const", "py", "pep", "rfc", "term", "doc", "any"])  # fmt: skip
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")


class Listed(NamedTuple):
    """A name on the hand-written page: its module, its name there, and what it is."""

    module: str
    name: str
    value: Any


def hand_written(text: str, package: str) -> list[Listed]:
    """The names that a page of Sphinx documents, with those that `:members:` adds."""
    module, found, owner = package, dict[tuple[str, str], Listed](), None
    for match in DIRECTIVE.finditer(text):
        if named := match["module"] or match["myst"]:
            module = named
        elif match["members"] is not None and owner is not None:
            chosen = [name.strip() for name in match["members"].split(",") if name.strip()]
            for name in chosen or documented_members(owner.value):
                value = inspect.getattr_static(owner.value, name, None)
                value = None if inspect.isclass(value) else value  # the value of an attribute
                found[owner.module, f"{owner.name}.{name}"] = Listed(
                    owner.module, f"{owner.name}.{name}", value
                )
        elif match["name"]:
            owner = resolved(match["name"], module, package)
            if owner is not None:
                found[owner.module, owner.name] = owner
    return list(found.values())


def documented_members(value: Any) -> list[str]:
    """What autodoc shows for `:members:` without a list: public members with a docstring."""
    if not inspect.isclass(value):
        return []
    return [
        name
        for name, member in vars(value).items()
        if not name.startswith("_") and (callable(member) or isinstance(member, (property, classmethod, staticmethod)))
        and inspect.getdoc(getattr(value, name, None))
    ]  # fmt: skip


def resolved(name: str, module: str, package: str) -> Listed | None:
    """What a directive names: in its module, or from the package on."""
    for path in (f"{module}.{name}", name):
        parts = path.split(".")
        for n in range(len(parts) - 1, 0, -1):
            try:
                value: Any = importlib.import_module(".".join(parts[:n]))
            except ImportError:
                continue
            try:
                for part in parts[n:]:
                    value = getattr(value, part)
            except AttributeError:
                continue
            if parts[0] in (package, module.partition(".")[0]):
                return Listed(".".join(parts[:n]), ".".join(parts[n:]), value)
    return None


class Pages:
    """What `clew document` wrote: the part of a page on each name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts = {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.md")}
        self.parts: dict[str, str] = {}
        self.passed: dict[tuple[str, str], str] = {}
        for name, text in self.texts.items():
            if name.startswith("api-"):
                places = [*ANCHOR.finditer(text)]
                ends = [place.start() for place in places[1:]] + [len(text)] * bool(places)
                for place, end in zip(places, ends, strict=True):
                    self.parts[place[1]] = text[place.end() : end]
                module = name.removeprefix("api-").removesuffix(".md")
                for given, target in re.findall(
                    r"^- \[`([\w.]+)`\]\([^)#]+#([^)]+)\)", text, re.MULTILINE
                ):
                    self.passed[module, given] = target

    def on(self, listed: Listed) -> str:
        """The documentation of a name, wherever its module passes it on from; "" for none."""
        path = f"{listed.module}.{listed.name}"
        owner, *members = listed.name.split(".")
        target = self.passed.get((listed.module.lower(), owner))
        places = [path, ".".join([target, *members])] if target else [path]
        return next((self.parts[place] for place in places if place in self.parts), "")

    def links(self) -> Iterator[tuple[str, str]]:
        for name, text in self.texts.items():
            prose = re.sub(
                r"^( *)(`{3,}).*?^\1\2`*$|`[^`\n]*`(?!\])", "", text, flags=re.MULTILINE | re.DOTALL
            )
            yield from ((name, link) for link in LINK.findall(prose))

    def dead(self) -> list[str]:
        found = []
        for name, link in self.links():
            path, _, anchor = link.partition("#")
            target = self.folder / (unquote(path) if path else name)
            if re.match(r"[a-z]+:", link):
                continue
            text = (
                target.read_text(encoding="utf-8", errors="replace") if target.is_file() else None
            )
            is_line = re.fullmatch(r"L\d+", anchor)
            if text is None or (anchor and not is_line and f'id="{anchor}"' not in text):
                found.append(f"{name}: {link}")
        return found


def lost_words(value: Any, text: str) -> set[str]:
    """The words of a docstring that a text does not have."""
    # A role shows its title, or the last name of what it leads to.
    docstring = re.sub(r":`([^`<]*?) ?<[^`>]*>`|`~[\w.]*\.", r"`\1", own_docstring(value))
    written = {word.lower() for word in WORD.findall(docstring)}
    return written - {word.lower() for word in WORD.findall(text)} - MARKUP


def own_docstring(value: Any) -> str:
    value = getattr(value, "__func__", value)
    is_own = inspect.isclass(value) or inspect.isroutine(value) or isinstance(value, property)
    if inspect.isclass(value):
        return inspect.cleandoc(vars(value).get("__doc__") or "")
    return inspect.getdoc(value) or "" if is_own else ""


def examples_of(text: str) -> list[str]:
    """The first line of each session in a text."""
    try:
        found = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return []
    return [one.source.split("\n")[0].strip() for one in found]


def parameters_are_right(value: Any, text: str) -> bool | None:
    """Whether a text shows the parameters that the function has; None for what has none."""
    value = inspect.unwrap(getattr(value, "__func__", value)) if callable(value) or isinstance(value, (classmethod, staticmethod)) else None  # fmt: skip
    if not inspect.isfunction(value):
        return None
    shown = re.sub(r"\s+", " ", text)
    names = [name for name in inspect.signature(value).parameters if name not in ("self", "cls")]
    return all(re.search(rf"\b{name}\b", shown) for name in names)


def pydoc_text(modules: list[str], source: Path) -> str:
    run = [sys.executable, "-m", "pydoc", *modules]
    environment = {"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin", "PAGER": "cat"}
    return subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout


def compare(package: str, source: Path, reference: str, folder: Path) -> str:
    """The three side by side."""
    names = hand_written(reference, package)
    pages = Pages(folder)
    modules = sorted({package, *public_modules(package)})
    pydoc = pydoc_text(modules, source)
    pydoc_lines = {line.strip(" |") for line in pydoc.split("\n")}
    in_docs = [one for listed in names for one in examples_of(own_docstring(listed.value))]
    only_there = [one for one in examples_of(reference) if one not in set(in_docs)]
    every = "\n".join(pages.texts.values())
    listed_by_clew = [listed for listed in names if pages.on(listed)]
    in_pydoc = [n for n in names if re.search(rf"\b{n.name.rpartition('.')[2]}\b", pydoc)]
    functions = [n for n in names if parameters_are_right(n.value, "") is not None]
    with_docs = [n for n in names if own_docstring(n.value)]
    whole = [n for n in with_docs if pages.on(n) and not lost_words(n.value, pages.on(n))]
    whole_in_pydoc = [n for n in with_docs if all(line.strip() in pydoc_lines for line in own_docstring(n.value).split("\n"))]  # fmt: skip
    right = [n for n in functions if parameters_are_right(n.value, pages.on(n))]
    right_in_pydoc = [n for n in functions if parameters_are_right(n.value, pydoc)]
    top = importlib.import_module(package)
    own = list(public_names(top))
    hand = {n.name for n in names if n.module == package}
    by_clew = {n for n in own if pages.on(Listed(package, n, None))}
    private = [
        a for a in pages.parts if a.rpartition(".")[2].startswith("_") and not a.endswith("__")
    ]
    private_in_pydoc = set(re.findall(r"^ (?:\|  |   )(?:def )?(_(?!_)\w+)\(", pydoc, re.MULTILINE))
    links = [*pages.links()]
    sources = sum(bool(re.search(r"#L\d+$", link)) for _, link in links)
    between = sum("api-" in link for _, link in links)
    narrative = re.sub(r"^\.\. .*$|^```.*$", "", reference, flags=re.MULTILINE)
    autodoc = " ".join(own_docstring(n.value) for n in names)
    rows = [
        ("names of the hand-written page", len(names), len(listed_by_clew), len(in_pydoc)),
        (f"names of `{package}` itself", len(hand & set(own)), len(by_clew), sum(n in pydoc for n in own)),
        ("functions with all parameters", len(functions), len(right), len(right_in_pydoc)),
        ("docstrings whole", len(with_docs), len(whole), len(whole_in_pydoc)),
        ("examples of docstrings, as written", len(in_docs), sum(f">>> {e}" in every for e in in_docs), sum(f">>> {e}" in pydoc for e in in_docs)),
        ("examples of the hand-written page alone", len(only_there), sum(f">>> {e}" in every for e in only_there), sum(f">>> {e}" in pydoc for e in only_there)),
        ("names with an example from tests", 0, every.count("\nAs it is used in "), 0),
        ("private names", 0, len(private), len(private_in_pydoc)),
        ("links to lines of the source", 0, sources, 0),
        ("links between names", len(re.findall(r":\w+:`|`[\w.]+`_", autodoc + reference)), between, 0),
        ("dead links", 0, len(pages.dead()), 0),
        ("pages", 1, sum(name.startswith("api-") for name in pages.texts), len(modules)),
        ("words", len((narrative + autodoc).split()), sum(len(t.split()) for n, t in pages.texts.items() if n.startswith("api-")), len(pydoc.split())),
    ]  # fmt: skip
    missing = [f"{n.module}.{n.name}" for n in names if not pages.on(n)]
    print("not listed:", ", ".join(missing) or "none")
    print("docstrings with words lost:", ", ".join(
        f"{n.name} ({', '.join(sorted(lost_words(n.value, pages.on(n)))[:4])})" for n in with_docs if n not in whole and pages.on(n)) or "none")  # fmt: skip
    print("parameters missing:", ", ".join(n.name for n in functions if n not in right) or "none")
    heads = ("", "hand-written", "clew document", "pydoc")
    width = max(len(name) for name, *_ in rows)
    lines = [f"{name:<{width}}" + "".join(f"{value:>15,}" for value in values) for name, *values in rows]  # fmt: skip
    return "\n".join([f"{heads[0]:<{width}}" + "".join(f"{head:>15}" for head in heads[1:]), *lines])  # fmt: skip


def public_names(module: Any) -> list[str]:
    names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    return [n for n in names if not inspect.ismodule(getattr(module, n, None)) and not n.startswith("_")]  # fmt: skip


def public_modules(package: str) -> list[str]:
    folder = importlib.import_module(package).__path__
    names = [found.name for found in pkgutil.walk_packages(folder, f"{package}.")]
    return [name for name in names if not any(part.startswith("_") for part in name.split("."))]


def sdist(requirement: str, folder: Path) -> Path:
    """The unpacked source distribution of a package, by the index's ordinary client."""
    run = [sys.executable, "-m", "pip", "download", "--no-binary", ":all:", "--no-deps", "-q"]
    subprocess.run([*run, "-d", str(folder), requirement], check=True)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--sdist", metavar="NAME==VERSION", help="what pip is asked for")
    source.add_argument("--folder", type=Path, help="an unpacked source distribution")
    source.add_argument("--smoke", action="store_true", help="Python's own json, and a page of one name")  # fmt: skip
    parser.add_argument("--package", help="what is imported (default: the name of the distribution)")  # fmt: skip
    parser.add_argument("--reference", default="docs/api.rst", help="the hand-written page, below the folder (default: docs/api.rst)")  # fmt: skip
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        package = "json" if options.smoke else options.package
        package = package or (options.sdist or options.folder.name).partition("==")[0]
        if options.smoke:
            reference, code = ".. module:: json\n\n.. autofunction:: loads\n", root / "sdist"
            shutil.copytree(Path(importlib.import_module(package).__path__[0]), code / package)
        else:
            folder = options.folder or sdist(options.sdist, root)
            reference = (folder / options.reference).read_text(encoding="utf-8")
            code = folder / "src"
        shown = root / "shown"
        shutil.copytree(code, shown / "src" if not options.smoke else shown)
        for name in () if options.smoke else ("tests", "examples", "README.md"):
            if (folder / name).is_dir():
                shutil.copytree(folder / name, shown / name)
            elif (folder / name).is_file():
                shutil.copy(folder / name, shown / name)
        sys.path.insert(0, str(code))
        clew(["document", str(shown), "-o", str(root / "out"), "--title", package])
        print(compare(package, code, reference, root / "out"))


if __name__ == "__main__":
    main()
