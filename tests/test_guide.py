"""The guide says what is so: its code runs and prints what it shows; the site has every name, and no link leads nowhere."""

from __future__ import annotations

import ast
import asyncio
import logging
import posixpath
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

import clew
from clew import relevance
from clew.show.wording import ROLES
from clew.store.manifest import FORMAT
from tests.distributions import FOLDERS, ROOT, modules

GUIDE = ROOT / "examples" / "guide"
PAGES = sorted(path.relative_to(GUIDE).as_posix() for path in GUIDE.rglob("*.md"))
NEEDS = {
    "first-app/langchain.md": ["langchain_clew"],
    "first-app/llama-index.md": ["llama_index.retrievers.clew", "llama_index.postprocessor.clew"],
}
(COMMAND,) = re.findall(  # as the configuration says
    r"^    python (-m sphinx .*) build/site$",
    (GUIDE / "site" / "conf.py").read_text(encoding="utf-8"),
    re.MULTILINE,
)
MEASURED = "\n\n".join(
    path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "tests/benchmarks/measured").glob("*.md"))
)
REASONS = ("installs", "needs", "serves until", "goes on until", "downloads", "compiles")


@pytest.fixture(scope="module")
def blocks():
    """The module of the guide that reads and runs blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(GUIDE / "site"))
        import blocks as module

        yield module


@pytest.fixture
def samples(tmp_path, monkeypatch):
    """A folder with what the pages read, and nothing of what other questions left in a cache."""
    shutil.copytree(ROOT / "examples" / "harbour", tmp_path / "harbour")
    shutil.copy(GUIDE / "curies.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("went to the network"))
    logger = logging.getLogger("clew.questions")
    level, handlers = logger.level, [*logger.handlers]
    loop = asyncio.new_event_loop()  # LlamaIndex makes one, and loses it, where there is none
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)
    logger.setLevel(level)
    logger.handlers[:] = handlers


def text_of(page):
    return (GUIDE / page).read_text(encoding="utf-8")


def prose_of(page):
    return re.sub(r"^```.*?^```$", "", text_of(page), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page", [one for one in PAGES if re.search("```(python|bash)", text_of(one))]
)
def test_the_code_of_a_page_prints_what_the_page_shows(page, blocks, samples):
    for module in NEEDS.get(page, []):
        pytest.importorskip(module)
    found = blocks.blocks_of(text_of(page))
    reader = blocks.Reader()
    for block in found:
        reader.carry_out(block)
    written = [block for block in found if block.language in ("python", "bash")]
    assert reader.ran + reader.checked == len(written)
    assert reader.compared == len([block for block in found if block.language == "text"]) > 0


def test_a_block_that_is_not_run_says_what_it_needs(blocks):
    reasons = [block.reason for page in PAGES for block in blocks.blocks_of(text_of(page))]
    given = [reason for reason in reasons if reason]
    assert len(given) >= 10
    assert not [reason for reason in given if not any(word in reason for word in REASONS)]
    assert "".join(map(text_of, PAGES)).count("<!-- not run") == len(given)


def test_what_a_page_shows_is_compared_line_by_line(blocks):
    assert blocks.matches("one\ntwo\nthree\n", "one\n...\nthree")
    assert blocks.matches("one  \ntwo\n", "one\nt ...".replace("t ...", "two"))
    assert blocks.matches("took 3 ms\n", "took ...")
    assert not blocks.matches("one\ntwo\n", "one")
    assert not blocks.matches("one\ntwo\n", "one\n2")
    reader = blocks.Reader()
    page = "```python\nprint(1)\n```\n\n```text\n2\n```\n"
    with pytest.raises(AssertionError, match="is not"):
        [reader.carry_out(block) for block in blocks.blocks_of(page)]
    with pytest.raises(SyntaxError):
        blocks.Reader().carry_out(
            blocks.blocks_of("<!-- not run: it needs a key -->\n```python\nprint(\n```\n")[0]
        )


def test_every_error_with_a_name_of_its_own_is_in_operations():
    rows = re.findall(r"^\| (`\w+`.*?) \|", text_of("operations.md"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+(?:Error|Warning))`", row)}
    defined = {
        name
        for folder in FOLDERS.values()
        for file in modules(folder).values()
        for name in re.findall(
            r"^ *class (\w+(?:Error|Warning))\b", file.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    public = {name for name in defined if not name.startswith("_")}
    assert named == public


@pytest.mark.parametrize("page", ["operations.md", "first-app/terminal.md"])
def test_the_guide_says_below_which_relevance_nothing_is_read(page):
    said = re.findall(r"best is below (\.\d+) \((\.\d+) in\ssource code\)", text_of(page))
    lines = relevance.MIN_RELEVANCE, relevance.MIN_RELEVANCE_IN_CODE
    assert [tuple(map(float, pair)) for pair in said] == [lines]


def test_every_figure_of_a_share_of_questions_stands_in_the_tables():
    measured = set(re.findall(r"(?<![\w.])\.\d{2,3}\b", MEASURED))
    found = {
        page: set(re.findall(r"(?<![\w.])\.\d{2,3}\b", prose_of(page)))
        for page in PAGES
        if page != "operations.md"  # whose figures are limits
    }
    assert sum(map(len, found.values())) > 50
    assert not {page: wrong for page, figures in found.items() if (wrong := figures - measured)}


def figures_of(method, columns):
    """The figures of a method in the first table of the benchmarks that begins with these columns."""
    table = next(one for one in MEASURED.split("\n\n") if f"\n{columns}" in f"\n{one}")
    (row,) = (line for line in table.splitlines() if line.startswith(f"| {method}"))
    return re.findall(r"\.\d{2,3}", row)


def test_the_figures_of_a_method_are_those_of_its_row():
    pages = {page: " ".join(text_of(page).split()) for page in PAGES}
    over_a_store, names = "| | MuSiQue R@5 | R@10 ", "| | MuSiQue R@5 | all@5 "
    folders = "| | hit@1 | hit@3 | hit@10 | in 512 | in 1,024 "
    store, over = (
        figures_of(row, over_a_store)[2::3] for row in ("the store alone", "and a third, the")
    )
    walk, page = (figures_of(f"`{name}`", names)[2::3] for name in ("hipporag", "budgeted"))
    own, fused, paid = (
        figures_of(f"`{name}`", folders)[3:] for name in ("hipporag", "fused", "budgeted")
    )
    for before, after in zip(store, over, strict=True):
        assert f"from {before} to {after} on" in pages["recipes.md"]
        assert f"{after} for {before} on" in pages["first-app/langchain.md"]
    for one, other in zip(page, walk, strict=True):
        assert f"{one} to {other}" in pages["methods/budgeted.md"]
    assert f"({own[0]} and {fused[0]} in 512 tokens)" in pages["recipes.md"]
    assert f"`budgeted` answers {paid[1]}, the default {own[1]}" in pages["recipes.md"]
    assert f"({paid[1]}; `fused` {fused[1]})" in pages["methods/budgeted.md"]
    assert f"({paid[0]} to {own[0]})" in pages["methods/budgeted.md"]


def test_operations_names_the_formats_that_are_older():
    assert f"(1 to {FORMAT - 1} by now)" in text_of("operations.md")


def test_the_roles_of_items_are_explained():
    assert (
        not ROLES.keys()
        - {"connector"}
        - set(re.findall(r"`(\w+)`", text_of("first-app/python.md")))
    )


def test_every_recipe_is_told_of():
    named = "".join(map(text_of, PAGES))
    assert not [name for name in clew.recipes.names() if f"`{name}`" not in named]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_read_on_a_git_host_too(page):
    """Its links lead to files of the repository."""
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", prose_of(page)):
        assert (GUIDE / page).parent.joinpath(target).exists(), target


class Links(HTMLParser):
    """The anchors of a page, and what it links to and loads."""

    def __init__(self, page):
        super().__init__()
        self.anchors, self.targets, self.loaded = set(), [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.targets.append(values["href"])
        if tag == "link" and values.get("rel") not in ("index", "search", "next", "prev"):
            self.loaded.append(values["href"])
        if tag in ("script", "img", "iframe") and values.get("src"):
            self.loaded.append(values["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built by the command that its configuration names, with warnings as errors."""
    for module in ("sphinx", "myst_parser", "furo", "langchain_clew"):
        pytest.importorskip(module)
    pytest.importorskip("llama_index.retrievers.clew")
    pytest.importorskip("llama_index.postprocessor.clew")
    found = tmp_path_factory.mktemp("site")
    away = ["-d", str(tmp_path_factory.mktemp("doctrees")), str(found)]
    done = subprocess.run(
        [sys.executable, *COMMAND.split(), *away], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return found


@pytest.fixture(scope="module")
def links(site):
    return {
        path.relative_to(site).as_posix(): Links(path.read_text(encoding="utf-8"))
        for path in site.rglob("*.html")
    }


def test_a_page_is_renewed_where_it_prints_something_else(blocks):
    import renew

    page = "```python\nprint(1)\nprint(2)\n```\n\n```text\nSHOWN\n```\n"
    assert renew.renewed(page.replace("SHOWN", "3")) == page.replace("SHOWN", "1\n2")
    assert renew.renewed(page.replace("SHOWN", "1\n...")) == page.replace("SHOWN", "1\n...")


@pytest.mark.slow
def test_every_internal_link_leads_somewhere(site, links):
    checked = 0
    for page, found in links.items():
        for target in [*found.targets, *found.loaded]:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https", "mailto", "file"):
                continue
            place = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path)))
            to = place if parts.path else page
            assert (site / to).is_file(), f"{page} links to {target}"
            if parts.fragment and to.endswith(".html"):
                assert unquote(parts.fragment) in links[to].anchors, f"{page} links to {target}"
            checked += 1
    assert checked > 1000


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(site, links):
    for page, found in links.items():
        away = [one for one in found.loaded if urlsplit(one).netloc]
        assert not away, f"{page} loads {away}"
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", style.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_every_public_name_is_in_the_inventory(site):
    from sphinx.util.inventory import InventoryFile

    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", posixpath.join)
    found = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    named = set()
    for folder in FOLDERS.values():
        for module, file in modules(folder).items():
            if any(part.startswith("_") for part in module.split(".")):
                continue
            for statement in ast.parse(file.read_text(encoding="utf-8")).body:
                if isinstance(statement, ast.Assign) and "__all__" in map(
                    ast.unparse, statement.targets
                ):
                    named |= {f"{module}.{name}" for name in ast.literal_eval(statement.value)}
                    named.add(module)
    assert len(named) > 400
    assert not named - found


@pytest.mark.slow
def test_every_method_has_its_picture(site):
    methods = [page for page in PAGES if page.startswith("methods/") and "index" not in page]
    assert len(methods) == 5
    for page in methods:
        html = (site / page).with_suffix(".html").read_text(encoding="utf-8")
        assert '<figure class="clew">' in html
        assert html.count('class="node') >= 5
        assert "<math" in html


def test_the_workflow_builds_the_site_so_and_publishes_what_it_built_from_main_alone():
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load((ROOT / ".github/workflows/site.yml").read_text("utf-8"))["jobs"]
    lines = [step.get("run", "") for step in jobs["build"]["steps"]]
    (line,) = [one.split() for one in lines if one.startswith("python -m sphinx")]
    options = set(line) - {"python", "-d", "build/doctrees", "build/site"}
    assert options == set(COMMAND.split())
    (packed,) = [step["with"]["path"] for step in jobs["build"]["steps"] if "path" in str(step)]
    assert packed == line[-1]
    assert jobs["build"]["permissions"] == {"contents": "read"}
    publish = jobs["publish"]
    assert publish["needs"] == "build"
    assert "github.ref == 'refs/heads/main'" in publish["if"]
    assert not any("run" in step for step in publish["steps"])
