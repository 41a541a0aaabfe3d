"""The reference of source code, against what importing the same packages tells."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import pkgutil
import random
import re
import shutil
import subprocess
import sys
import typing
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from clew.cli import main
from clew.document import Document
from clew.documentation.python_reference import read_python_reference
from clew.documentation.uses import find_uses

pytest.importorskip("griffe")
PACKAGES = ("json", "tenacity", "concurrent.futures")
WORD = re.compile(r"[^\W_]+")


def document(source, output, *options):
    assert main(["document", str(source), "-o", str(output), *options]) == 0
    return {file.name: file.read_text(encoding="utf-8") for file in Path(output).iterdir()}


@pytest.fixture(scope="module", params=PACKAGES)
def documented(request, tmp_path_factory):
    package = importlib.import_module(request.param)
    output = tmp_path_factory.mktemp("docs") / "out"
    return package, document(package.__path__[0], output), output


def modules_of(package):
    """The public modules of a package, imported."""
    yield package
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            try:
                yield importlib.import_module(found.name)
            except ImportError:  # of a framework that is not installed
                continue


def public_names(module):
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not inspect.ismodule(getattr(module, name, 0))]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    ]


def public_objects(package):
    """(path, object) of the classes and functions that public modules define, and of members."""
    for module in modules_of(package):
        for name in public_names(module):
            value = getattr(module, name, None)
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if inspect.isclass(value) or inspect.isfunction(value):
                yield f"{module.__name__}.{name}", value
            for member in list(vars(value)) if inspect.isclass(value) else ():
                is_function = inspect.isfunction(inspect.unwrap(getattr(value, member, None) or 0))
                if not member.startswith("_") and is_function:
                    yield f"{module.__name__}.{name}.{member}", getattr(value, member)


def entry_of(pages, path):
    """The part of a page that is on an entry, up to the next entry."""
    for text in pages.values():
        if f'<a id="{path}"></a>' in text:
            return text.split(f'<a id="{path}"></a>')[1].split("<a id=")[0]
    raise AssertionError(f"{path} is on no page")


def test_every_public_name_is_listed_and_no_private_one(documented):
    package, pages, _ = documented
    for module in modules_of(package):
        page = pages[f"api-{module.__name__.lower()}.md"]
        for name in public_names(module):
            own, passed_on = f'<a id="{module.__name__}.{name}"></a>', f"- [`{name}`]("
            assert own in page or passed_on in page or f"- `{name}` from" in page, (module, name)
    anchors = {name for text in pages.values() for name in re.findall(r'<a id="([^"]+)"', text)}
    listed = {name for module in modules_of(package) for name in getattr(module, "__all__", ())}
    for anchor in anchors:
        last = anchor.rpartition(".")[2]
        assert not last.startswith("_") or last in listed or last.endswith("__"), anchor


def test_signatures_are_those_of_the_objects(documented):
    package, pages, _ = documented
    checked = 0
    for path, value in public_objects(package):
        if inspect.isclass(value) or path.startswith("tenacity.tornadoweb"):
            continue
        text = entry_of(pages, path)
        written = [
            re.sub(r"^- |^`+|`+$", "", line) for line in re.findall(r"(?:async )?def [^`]+", text)
        ]
        code = re.search(
            r"(?:^@.*\n)*^(?:async )?def .*?(?=^```|^@|^def|\Z)", text, re.MULTILINE | re.DOTALL
        )
        signature = (code[0] if code else written[0]).strip()
        function = ast.parse(f"{signature}: ...").body[0]
        arguments = function.args
        names = [one.arg for one in arguments.posonlyargs + arguments.args]
        names += [arguments.vararg.arg] if arguments.vararg else []
        names += [one.arg for one in arguments.kwonlyargs]
        names += [arguments.kwarg.arg] if arguments.kwarg else []
        raw = inspect.unwrap(getattr(value, "__func__", value))
        if typing.get_overloads(raw):  # the page has these, and not what implements them
            continue
        parameters = list(inspect.signature(raw).parameters.values())
        assert names == [one.name for one in parameters], path
        checked += 1
    assert checked > 3


def test_docstrings_are_whole_and_their_examples_as_they_are_written(documented):
    package, pages, _ = documented
    whole = "\n".join(pages.values())
    examples = 0
    for path, value in public_objects(package):
        docstring = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
        if not docstring:
            continue
        text = entry_of(pages, path)
        titles = {"args", "parameters", "returns", "raises", "param", "type", "rtype", "return"}
        lost = {*WORD.findall(docstring.lower())} - {*WORD.findall(text.lower())} - titles
        assert not lost - {"class", "func", "meth", "exc", "attr", "mod", "data", "versionadded"}, (
            path
        )
        for example in doctest.DocTestParser().get_examples(inspect.cleandoc(docstring)):
            first = example.source.split("\n")[0]
            assert f">>> {first}\n" in text, path
            assert example.want.rstrip("\n") in text
            examples += 1
    for module in modules_of(package):
        for example in doctest.DocTestParser().get_examples(inspect.cleandoc(module.__doc__ or "")):
            assert example.source.split("\n")[0] in whole
            examples += 1
    assert examples or package.__name__ != "json"


def test_no_statement_of_a_body_is_pasted(documented):
    package, pages, _ = documented
    whole = " ".join(" ".join(text.split()) for name, text in pages.items() if name.endswith(".md"))
    for file in Path(package.__path__[0]).rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for function in ast.walk(ast.parse(text)):
            if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            for node in function.body[1 if ast.get_docstring(function) else 0 :]:
                statement = " ".join((ast.get_source_segment(text, node) or "").split())
                is_definition = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
                if len(statement) > 40 and not is_definition:
                    assert statement not in whole


def links_of_markdown(text):
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        for token in block.children or ():
            if token.attrGet("href") or token.attrGet("src"):
                yield token.attrGet("href") or token.attrGet("src")


def links_of_html(text):
    return [node.attributes.get("href") or "" for node in LexborHTMLParser(text).css("a[href]")]


def check_links(folder):
    """Whether every link leads to a file that is there, and to an anchor or a line in it."""
    count = 0
    for file in folder.iterdir():
        text = file.read_text(encoding="utf-8")
        links = {".md": links_of_markdown, ".html": links_of_html}.get(file.suffix, lambda _: ())
        for link in links(text):
            if re.match(r"https?:|mailto:", link):
                continue
            path, _, anchor = link.partition("#")
            target = folder / unquote(path) if path else file
            assert target.is_file(), f"{file.name}: {link}"
            line = re.fullmatch(r"L(\d+)", anchor)
            other = target.read_text(encoding="utf-8")
            if line:
                assert int(line[1]) <= other.count("\n") + 1, link
            elif anchor:
                assert f'id="{unquote(anchor)}"' in other, f"{file.name}: {link}"
            count += 1
    return count


def test_every_link_leads_somewhere_and_a_source_line_defines_the_name(documented):
    package, pages, output = documented
    assert check_links(output) > 30
    for path, _ in public_objects(package):
        source = re.search(r"Source: \[[^\]]*\]\(([^)#]+)#L(\d+)\)", entry_of(pages, path))
        if source:  # what has a line of its own, and no section, has the link behind its line
            lines = (output / unquote(source[1])).read_text(encoding="utf-8").split("\n")
            near = "\n".join(lines[int(source[2]) - 1 : int(source[2]) + 8])
            assert re.search(rf"(?:def|class) {path.rpartition('.')[2]}\b", near), path


KIT = {
    "kit/__init__.py": '"""Tools for wood."""\nfrom kit._saw import cut, Saw\nfrom kit.box import Box\n'
    'from os.path import join\n__all__ = ["cut", "Saw", "Box", "join", "SIZE"]\nSIZE: int = 3\n',
    "kit/_saw.py": '"""Private."""\nfrom kit.box import Base\n\ndef cut(wood: str, /, *, twice: bool = False) -> str:\n'
    '    """Cut wood, then see `Box`.\n\n    >>> cut("ash")  # doctest: +SKIP\n    \'as\\\\nh\'\n    """\n'
    '    return _blade(wood)\n\ndef _blade(wood):\n    """Secret."""\n    return "secret" + wood\n\n'
    'class Saw(Base):\n    """A saw."""\n    teeth = 9\n    #: How long it is.\n    length = 2\n'
    '    @property\n    def sharp(self) -> bool:\n        """Whether it cuts."""\n        return True\n',
    "kit/box.py": 'from typing import overload\n\nclass Base:\n    """What all have."""\n\n    def open(self) -> None:\n        """Open it."""\n\n'
    'class Box(Base):\n    """A box.\n\n    Args:\n        lid: Whether it has a lid.\n    """\n'
    "    def __init__(self, lid: bool = True):\n        self.lid = lid\n\n"
    '    @classmethod\n    def make(cls) -> \'Box\':\n        """Make one of :func:`~kit.cut`."""\n        from kit import cut\n        return cut(\'x\') and cls()\n\n'
    '    def _hidden(self): return 1\n\n@overload\ndef fill(a: int) -> int: ...\n@overload\ndef fill(a: str) -> str: ...\ndef fill(a):\n    """Fill."""\n    return a\n',
    "tests/test_kit.py": "from kit import cut\n\n\ndef test_cut_twice():\n    assert cut('oak', twice=True) == 'ok'\n",
    "README.md": "# Kit\n\nUse `kit.Box` and `cut()` on [the notes](docs/notes.md) of [nothing](gone.md).\n\n"
    "See `unknown` and [the `Box` here](https://example.org).\n",
    "docs/notes.md": "# Notes\n\nWood is cut when it is dry, in winter, by whoever is awake.\n",
}


def written(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_a_small_package_as_a_reader_meets_it(tmp_path, capsys):
    pages = document(written(tmp_path / "all", KIT), tmp_path / "out", "--cover", "1")
    assert check_links(tmp_path / "out") > 20
    kit, box = pages["api-kit.md"], pages["api-kit.box.md"]
    assert "api-kit._saw.md" not in pages
    assert not any("secret" in text.lower() or "_hidden" in text for text in pages.values())
    assert "- [`Box`](api-kit.box.md#kit.box.Box) from [`kit.box`](api-kit.box.md): A box." in kit
    assert "- `join` from" in kit
    cut = entry_of(pages, "kit.cut")
    assert "def cut(wood: str, /, *, twice: bool = False) -> str" in cut
    assert ">>> cut(\"ash\")  # doctest: +SKIP\n'as\\nh'\n```" in cut
    assert "see [`Box`](api-kit.box.md#kit.box.Box)" in cut
    assert "Used by: [`Box.make`](api-kit.box.md#kit.box.Box.make)" in cut
    assert "def test_cut_twice():\n    assert cut('oak', twice=True) == 'ok'\n" in cut
    assert re.search(r"Explained in: \[Kit\]\(\d-kit\.md#", cut)
    saw = kit.split('<a id="kit.Saw"></a>')[1]
    assert "Bases: [`Base`](api-kit.box.md#kit.box.Base)" in saw
    assert "[`open`](api-kit.box.md#kit.box.Base.open)" in saw, "inherited members are linked"
    assert "How long it is." in saw
    assert "`teeth = 9`" in saw
    assert "### `sharp` (property)" in saw
    assert "Box(lid: bool = True)" in box
    assert "- `lid` (`bool`): Whether it has a lid." in box
    assert "@classmethod\ndef make(cls) -> Box" in box
    assert "Make one of [`cut`](api-kit.md#kit.cut)" in box
    assert "def fill(a: int) -> int\ndef fill(a: str) -> str\n```" in box
    readme = next(
        text for name, text in pages.items() if name.endswith("-kit.md") and name[0] != "a"
    )
    assert "[`kit.Box`](api-kit.box.md#kit.box.Box) and [`cut()`](api-kit.md#kit.cut)" in readme
    assert "on [the notes](2-notes.md) of nothing." in readme or "of nothing." in readme
    assert "See `unknown` and [the `Box` here](https://example.org)" in readme
    names = pages["names.md"]
    assert names.index("`Base`") < names.index("`Box`") < names.index("`cut`")
    assert "public names" in capsys.readouterr().out


def test_html_has_the_same_pages_and_runs_nothing_of_the_documents(tmp_path):
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    files = {
        "bad.py": f'"""Module {evil}\n\n[x](javascript:alert(3)) <a id="y" onclick="z">q</a>\n"""\n\n'
        f'def f(a="{evil}"):\n    """{evil} `x` <b>bold</b>\n\n    -->\n\n    :param a: {evil}\n    """\n\n'
        f'NAME = "{evil}"\n',
        "bad.md": f"# Title {evil}\n\nText {evil} [x](javascript:alert(4)) here.\n\n<details><summary>s\n",
    }
    source = written(tmp_path / "bad", files)
    for format in ("html", "markdown"):
        document(source, tmp_path / format, "--format", format, "--cover", "1")
        check_links(tmp_path / format)
    names = {file.stem for file in (tmp_path / "html").iterdir()}
    assert names == {file.stem for file in (tmp_path / "markdown").iterdir()}
    for file in (tmp_path / "html").glob("*.html"):
        page = LexborHTMLParser(file.read_text(encoding="utf-8"))
        own = {"search.html": 2}.get(file.name, 0)
        assert len(page.css("script")) == own, file.name
        assert not page.css("img, iframe, object, b")
        policy = page.css_first("meta[http-equiv]").attributes["content"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "unsafe" not in policy
        for node in page.css("*"):
            assert not any(name.startswith("on") for name in node.attributes), file.name
            assert not re.match(r"\s*javascript:", node.attributes.get("href") or "")
    page = LexborHTMLParser((tmp_path / "html" / "api-bad.html").read_text(encoding="utf-8"))
    assert page.body.text().count(evil) >= 4, "it is shown as it is written"


def test_pages_with_names_in_any_script_are_linked_in_html(tmp_path):
    files = {
        "fish.md": "# متجر الأسماك\n\nيفتح سوق السمك في الساعة الخامسة صباحا كل يوم.\n",
        "fähre.md": "# Die Fähre\n\nDie Fähre fährt um zehn Uhr vom alten Hafen ab.\n",
        "caf\u00e9.py": '"""Coffee."""\n\ndef brew():\n    """Brew it."""\n',
    }
    site = tmp_path / "site"
    pages = document(written(tmp_path / "all", files), site, "--format", "html", "--cover", "1")
    check_links(site)
    linked = {unquote(link).partition("#")[0] for link in links_of_html(pages["index.html"])}
    assert {name for name in pages if name.endswith(".html")} - {"index.html"} <= linked


def test_the_search_page_finds_every_name_by_its_parts(tmp_path):
    document(written(tmp_path / "all", KIT), tmp_path / "out", "--format", "html")
    page = LexborHTMLParser((tmp_path / "out" / "search.html").read_text(encoding="utf-8"))
    data = json.loads(page.css_first("#data").text())
    found = {}
    for i, (title, target, *_) in enumerate(data["results"]):
        path, _, anchor = target.partition("#")
        text = (tmp_path / "out" / path).read_text(encoding="utf-8")
        assert not anchor or f'id="{anchor}"' in text
        found[title] = i
    assert {"kit", "kit.cut", "kit.Saw.sharp", "kit.box.Box.make"} <= set(found)
    for title, i in found.items():
        for word in WORD.findall(title.lower()):
            assert i in data["words"][word][::2], (title, word)
    assert found["kit.Saw"] in data["words"]["saw"][::2]
    assert found["kit.cut"] in data["words"]["cut"][::2]
    assert "whether" in data["words"], "what is written on a name is found, too"


SEARCH = """
const page = require("fs").readFileSync(process.argv[2], "utf8");
const inside = (mark) => page.split(mark)[1].split("</script>")[0];
const node = () => ({textContent: "", value: "", own: [], append(...more) { this.own.push(...more); },
  replaceChildren() { this.own = []; }, addEventListener() {}});
const nodes = {data: node(), query: node(), results: node(), count: node()};
nodes.data.textContent = inside('id="data">');
globalThis.document = {getElementById: (id) => nodes[id], createElement: node};
globalThis.location = {search: "?q=" + encodeURIComponent(process.argv[3])};
(0, eval)(inside("</script><script>"));
console.log(JSON.stringify(nodes.results.own.map((one) => one.own[0].textContent)));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_search_finds_words_within_a_clause_of_a_script_without_spaces(tmp_path):
    files = {
        "ferry.md": "# 渡轮\n\n渡轮每天早上七点从老码头出发，晚上九点回来。\n",
        "fish.md": "# Fish\n\nThe market opens at five, and the fishmongers sing.\n",
    }
    document(written(tmp_path / "all", files), tmp_path / "out", "--format", "html", "--cover", "1")
    (tmp_path / "search.cjs").write_text(SEARCH, encoding="utf-8")

    def found(asked):
        command = ["node", tmp_path / "search.cjs", tmp_path / "out" / "search.html", asked]
        printed = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
        return set(json.loads(printed))

    assert found("早上七点") == found("码头") == found("七点 晚上") == {"渡轮"}
    assert not found("早上九点")
    assert found("fishm") == {"Fish"}
    assert not found("mongers"), "a word is found by its beginning elsewhere"


def test_another_run_replaces_its_own_pages_in_either_format_and_nothing_else(tmp_path):
    source = written(tmp_path / "all", KIT)
    first = document(source, tmp_path / "out", "--format", "html")
    (tmp_path / "out" / "mine.html").write_text("<p>mine", encoding="utf-8")
    second = document(source, tmp_path / "out")
    assert second.pop("mine.html") == "<p>mine"
    assert not [name for name in second if name.endswith(".html") and name != "search.html"]
    (source / "kit" / "box.py").unlink()
    third = document(source, tmp_path / "out")
    assert "api-kit.box.md" in second
    assert "api-kit.box.md" not in third
    assert set(first) - {"mine.html"}


def test_pages_that_stand_in_the_source_are_not_read_again(tmp_path, capsys):
    source = written(tmp_path / "all", KIT)
    first = document(source, source / "site", "--format", "html")
    second = document(source, source / "site", "--format", "html")
    assert "left out" in capsys.readouterr().err
    assert first == second


def test_without_the_library_it_says_so_and_shows_passages(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "griffe", None)
    pages = document(written(tmp_path / "all", KIT), tmp_path / "out")
    assert "pip install 'clew[document]'" in capsys.readouterr().err
    assert not any(name.startswith("api-") for name in pages)
    assert any("class Box(Base):" in text for text in pages.values())


def test_passages_are_kept_where_they_are_asked_for(tmp_path):
    pages = document(written(tmp_path / "all", KIT), tmp_path / "out", "--code", "passages")
    assert not any(name.startswith("api-") for name in pages)


def test_what_does_not_parse_is_named_and_shown_in_passages(tmp_path, capsys):
    source = written(tmp_path / "all", {**KIT, "kit/odd.py": "def odd(:\n    pass\n\nNUMBER = 1\n"})
    pages = document(source, tmp_path / "out")
    assert "kit/odd.py" in capsys.readouterr().err
    assert "api-kit.md" in pages


PROGRAMS = {
    "shop.go": "package shop\n\n// Cart holds goods.\ntype Cart struct {\n\tGoods int\n}\n\n// Add adds goods.\nfunc (c *Cart) Add(n int) error {\n\tc.hide()\n\treturn nil\n}\n\nfunc (c *Cart) hide() {}\n",
    "web.ts": "/**\n * Draw a page.\n *\n * @param {string} title - What is on it.\n * @returns {number} its size\n */\nexport function draw(title: string): number {\n  return secretSize(title);\n}\n\nfunction secretSize(t: string) { return t.length }\n",
    "gate.rs": "/// Opens the gate.\n///\n/// ```\n/// assert!(open(1));\n/// ```\npub fn open(key: u8) -> bool {\n    hidden(key)\n}\n\nfn hidden(key: u8) -> bool { key > 0 }\n",
}  # fmt: skip


def test_other_languages_have_their_public_names_with_the_comments_above_them(tmp_path):
    pytest.importorskip("tree_sitter")
    pages = document(written(tmp_path / "all", PROGRAMS), tmp_path / "out")
    check_links(tmp_path / "out")
    go, web, gate = (pages[f"api-{name}.md"] for name in PROGRAMS)
    assert "func (c *Cart) Add(n int) error\n```\n\nAdd adds goods." in go
    assert "Goods int" in go
    assert "export function draw(title: string): number\n```\n\nDraw a page." in web
    assert "- `title` (`string`): What is on it." in web
    assert "pub fn open(key: u8) -> bool\n```" in gate
    assert "```\nassert!(open(1));\n```" in gate
    for text in (go, web, gate):
        assert not re.search(r"hide|secretSize|hidden", text)


WOOD = {
    "Box.java": "package wood;\n\n/** A box. */\npublic class Box {\n"
    "    /** Its type. */\n    public String type() {\n        return secret;\n    }\n"
    "    /** Opens by number. */\n    public int open(int lid) { return secret; }\n"
    "    /** Opens by name.\n     * @param lid the one */\n    public int open(String lid) { return secret; }\n"
    "    private int open(long lid) { return secret; }\n"
    "    /** A hinge. */\n    public static class Hinge {\n        /** Turns. */\n        public void turn() { secret(); }\n    }\n"
    "    public interface Lid {\n        void close();\n        /** Whether. */\n        default boolean closed() { return secret; }\n    }\n}\n",
    "saw.c": "/* Makes a saw. */\nstruct saw *saw_new(int teeth)\n{\n    enum kind secret = OLD;\n    return secret;\n}\n\n"
    "enum kind saw_kind(struct saw *saw) { return saw->secret; }\n\ntypedef struct tooth {\n    int length;\n} tooth;\n",
    "kit.go": "// Copyright Anna.\n\n// Package kit is for wood.\npackage kit\n\n// Cut cuts.\nfunc Cut() { secret() }\n",
    "plane.rs": "//! All on planes.\n/// A plane.\npub struct Plane;\n\npub trait Sharp {\n"
    "    /// Whether it is.\n    fn is_sharp(&self) -> bool { secret() }\n}\n",
    "oil.js": "/** Oils wood. */\nexport function oil(wood) {\n  const rub = () => secret;\n  function secretly() {}\n  return rub;\n}\n",
}  # fmt: skip


def test_overloads_members_and_results_of_other_languages_are_what_they_are(tmp_path):
    pytest.importorskip("tree_sitter")
    pages = document(written(tmp_path / "all", WOOD), tmp_path / "out")
    check_links(tmp_path / "out")  # every name of the index, too
    text = "\n".join(page for name, page in pages.items() if name.startswith("api-"))
    assert "secret" not in text
    heads = dict(re.findall(r'<a id="[^"]*?-([\w.]+)"></a>\n\n#+ (.*)', text))
    types = {"Box", "Box.Hinge", "Box.Lid", "tooth", "Plane", "Sharp"}
    functions = {
        "Box.type",
        "Box.open",
        "Box.Hinge.turn",
        "Box.Lid.closed",
        "saw_new",
        "Cut",
        "Sharp.is_sharp",
        "oil",
    }
    assert heads == {one: f"class `{one.split('.')[-1]}`" for one in types} | {
        one: f"`{one.split('.')[-1]}()`" for one in functions
    }  # fmt: skip
    overloads = text.partition("### `open()`")[2].partition("Source:")[0].split("\n\n")
    assert overloads[1:-1] == [
        "```java\npublic int open(int lid)\npublic int open(String lid)\n```", "Opens by number.",
        "**`public int open(String lid)`**", "Opens by name.", "- `lid`: the one",
    ]  # fmt: skip
    assert "`void close()`" in text
    assert "`enum kind saw_kind(struct saw *saw)`" in text
    assert "# `kit.go`\n\nPackage kit is for wood.\n" in pages["api-kit.go.md"]
    assert re.findall(
        "All on planes|A plane", pages["api-plane.rs.md"].partition("## class")[2]
    ) == ["A plane"]


STATEMENTS = (
    "class A:\n    x = 1\n    def p(self): return 1", "class B(A):\n    @property\n    def p(self): ...\n    class In(A): ...",
    "def f(a, /, b=1, *c, d: int=2, **e):\n    '''F `A`.'''", "__all__ = ['A', 'nope']", "__all__ += ['f']", "from .m1 import *",
    "from m0 import *", "from .m1 import A as B", "from m0 import A as B", "import m1", "A = A", "A = f(A)", "B = A", "f = B.f",
    "from . import m1, _p", "from ._p import *", "from pk import *", "from pk._p import A, f", "x = x.y.z", "A.b = 3",
    "class C(A.B[int], metaclass=M): ...", "class C(C): ...", "import pk.m1 as f", "m1 = 3", "class m1: ...",
    "try:\n    from m0 import f\nexcept ImportError:\n    f = None",
)  # fmt: skip


def test_names_that_are_passed_on_in_circles_are_documented_once_each():
    draw = random.Random(3)
    for _ in range(120):
        documents = [
            Document(
                f"{name}.py", "\n".join(draw.choices(STATEMENTS, k=draw.randrange(1, 14))), format="python"
            )
            for name in ("m0", "m1", "pk/__init__", "pk/m1", "pk/_p")
        ]  # fmt: skip
        reference = read_python_reference(documents)
        paths = [entry.path for entry in reference.walk()]
        assert len(set(paths)) == len(paths)
        homes = [entry.defined_as for entry in reference.walk()]
        assert len(set(homes)) == len(homes)
        find_uses(reference, documents)
