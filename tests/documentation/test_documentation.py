"""Documentation of a package, with and without a language model, as a folder whose every link leads somewhere."""

from __future__ import annotations

import ast
import json
import re
import threading
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import clew
from clew.cli import main
from clew.documentation import estimate_documentation, write_documentation
from clew.documentation.belonging import select_for_section
from clew.documentation.branches import find_branches, short_title
from clew.documentation.merging import merge_sections
from clew.documentation.outline import DocumentationOutline
from clew.documentation.questions import generate_questions
from clew.documentation.sections import Explanation, Section

PACKAGE = Path(json.__file__).parent


@pytest.fixture(scope="module")
def index():
    return clew.Index.from_documents(PACKAGE, splitter=clew.Splitter())


@pytest.fixture(scope="module")
def plain(index):
    return write_documentation(index, title="json")


def docstring_lines():
    """The first lines of the docstrings of all functions and classes of the package."""
    for file in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
                yield ast.get_docstring(node).splitlines()[0]


def links_lead_somewhere(root):
    pages = {file.name: file.read_text(encoding="utf-8") for file in root.iterdir()}
    for name, text in pages.items():
        for target in re.findall(r"(?<!\\)\]\(([^)]+)\)", text if name.endswith(".md") else ""):
            page, _, anchor = target.partition("#")
            if re.match(r"[\w.-]+\.(md|svg)", page):
                assert page in pages, f"{name} links to {target}"
                assert not anchor or f'<a id="{anchor}">' in pages[page]
    return pages


def test_without_a_model_it_is_an_extract_of_the_sources(index, plain, tmp_path):
    assert not plain.failed
    assert len(plain.uncovered) <= 0.2 * int(index.graph.content.sum())
    texts = dict(zip(index.graph.ids, index.graph.texts, strict=True))
    read = set()
    for section in plain.sections:
        assert not section.by_model
        assert section.sources
        read |= {id for id, _ in section.sources}
        assert any(part.moved_to is None for part in section.explanations), (
            "each has something of its own"
        )
        for part in section.explanations:
            for source in part.sources:
                id = section.sources[source - 1][0]
                if part.moved_to is None:
                    assert re.sub(r"\W", "", texts[id]) in re.sub(r"\W|^```python", "", part.text)
                else:
                    assert id in {other for other, _ in plain.sections[part.moved_to].sources}
        for place in (place for _, place in section.sources):
            assert re.match(r"[\w.]+(:\d+(-\d+)?)?", place)
    under_its_own(plain, index)
    for section in plain.sections:
        here = {id for id, _ in section.sources}
        for branch in (
            find_branches(index.graph)[: section.branch]
            + find_branches(index.graph)[section.branch + 1 :]
        ):
            ids = {index.graph.ids[row] for row in branch.rows}
            whole = sum(int(index.graph.tokens[row]) for row in branch.rows)
            assert not ids & here or ids <= here or whole > 1000, "no function is told in fragments"
    assert read.isdisjoint(plain.uncovered)
    assert read | set(plain.uncovered) == {
        index.graph.ids[row] for branch in find_branches(index.graph) for row in branch.rows
    }
    for section in plain.sections:
        assert all(
            plain.sections[j].sources and set(plain.sections[j].sources) & set(section.sources)
            for j in section.related
        )
    told = [
        tuple(section.sources[n - 1][0] for n in part.sources)
        for section in plain.sections
        for part in section.explanations
        if part.moved_to is None
    ]
    assert len(set(told)) == len(told), "nothing is told twice"
    files = plain.save(tmp_path / "docs")
    pages = links_lead_somewhere(tmp_path / "docs")
    assert {file.name for file in files} == set(pages)
    assert sum(text.count("\n## ") for name, text in pages.items() if name != "index.md") == len(
        plain.sections
    )
    beginnings = {line for line in docstring_lines() if any(line in texts[id] for id in read)}
    assert len(beginnings) > 10
    assert all(any(line in text for text in pages.values()) for line in beginnings), (
        "what is covered is shown as it stands"
    )
    assert any(">>> import json" in text for text in pages.values()), "sessions are examples"
    first = pages["1-module-json.md"]
    assert "\n\nJSON (JavaScript Object Notation) " in first.split("## ")[0], (
        "a page begins with what its document says first"
    )
    assert "- [dump()](1-module-json.md#" in first
    assert first.count("Serialize ``obj`` as a JSON formatted stream to ``fp``") == 1
    assert "Serialize `obj` as a JSON formatted stream to `fp`" in first, "literals are code"
    assert "def dump(obj, fp, \\*" not in first, "sources are named shortly"
    whole = PACKAGE.joinpath("__init__.py").read_text(encoding="utf-8")
    assert whole[whole.index("def dump(") : whole.index("def dumps(")].rstrip() in first, (
        "neighbouring pieces are shown in one, as they stand"
    )
    drawn = ElementTree.fromstring(pages["questions.svg"])
    assert len(drawn.findall(".//{http://www.w3.org/2000/svg}title")) == 1 + len(plain.questions)


def test_it_is_the_same_every_time(index, plain):
    again = write_documentation(index, title="json")
    assert again.sections == plain.sections
    assert again.uncovered == plain.uncovered


def test_one_round_and_clusters_by_graph(index):
    found = write_documentation(index, sections=4, coverage=0, by="graph", budget=600)
    assert len(found.clusters) == 4
    assert 1 <= len(found.sections) <= 4
    for section in found.sections:
        tokens = sum(index.graph.tokens[index.graph.row(id)] for id, _ in section.sources)
        assert tokens <= 600


class Writer:
    """A model that answers each kind of prompt, and is wrong every `wrong`-th time."""

    def __init__(self, wrong=0):
        self.prompts, self.wrong = [], wrong

    def __call__(self, prompt):
        self.prompts.append(prompt)
        if self.wrong and len(self.prompts) % self.wrong == 0:
            return "I would rather not."
        if "different questions" in prompt:
            title = re.search(r"headed '(.*?)'", prompt)[1]
            return json.dumps(
                [f"What is {title}?", f"How does {title} work?", "a third", "one too many"]
            )
        if "belong together" in prompt:
            return (
                'Sure: {"question": "'
                + prompt.split("- ")[1].split("\n")[0].replace('"', "'")
                + '"}'
            )
        if "Which of these facts" in prompt:
            return '{"facts": [1]}'
        numbers = re.findall(r"^\[(\d+)\]", prompt, re.MULTILINE)
        said = [
            {"heading": f"Part {n}", "text": f"As source {n} says.", "sources": [int(n)]}
            for n in numbers[:2]
        ]
        return json.dumps(
            {
                "title": f"Section {len(self.prompts)}",
                "summary": "In short.",
                "explanations": said,
                "examples": ["x = 1"],
            }
        )


def test_a_model_writes_it(index, tmp_path):
    model = Writer()
    made = write_documentation(
        index, title="json", model=model, questions_per_branch=3, sections=5, coverage=0, workers=1
    )
    assert not made.failed
    assert len(made.questions) == 3 * len(find_branches(index.graph))
    assert all(
        section.by_model and section.title.startswith("Section") and section.summary == "In short."
        for section in made.sections
    )
    promised = estimate_documentation(index, sections=5)
    assert len(model.prompts) <= promised.calls
    assert sum(index.graph.count(prompt) for prompt in model.prompts) <= promised.tokens
    facts = {document.id: [("json", "has", document.id)] for document in index.documents}
    with_facts = clew.Index.from_documents(list(index.documents), facts=facts)
    model = Writer()
    filtered = write_documentation(
        with_facts, recipe="hipporag", model=model, sections=5, coverage=0, workers=1
    )
    promised = estimate_documentation(with_facts, recipe="hipporag", sections=5)
    filtering = [prompt for prompt in model.prompts if "Which of these facts" in prompt]
    assert filtering
    assert filtered.usage.calls == len(model.prompts)
    assert len(model.prompts) <= promised.calls
    assert sum(index.graph.count(prompt) for prompt in model.prompts) <= promised.tokens
    made.save(tmp_path / "docs")
    pages = links_lead_somewhere(tmp_path / "docs")
    assert any("As source 2 says." in text for text in pages.values())


def test_what_a_model_cannot_do_is_done_without_it_and_said(index, tmp_path):
    def refuses(prompt):
        return "no"

    made = write_documentation(index, model=refuses, sections=3, coverage=0)
    assert len(made.failed) >= len(find_branches(index.graph))
    assert any(what.startswith("the section on") for what, _ in made.failed)
    assert any(what.startswith("the pivot question of") for what, _ in made.failed)
    assert all("could not be read" in why for _, why in made.failed)
    assert made.sections
    assert not any(section.by_model for section in made.sections)
    assert "What could not be done" in made.save(tmp_path / "docs")[0].read_text(encoding="utf-8")
    half = write_documentation(index, model=Writer(wrong=2), sections=3, coverage=0, workers=1)
    assert any(section.by_model for section in half.sections), (
        "a second attempt is enough where the first is bad"
    )


def test_a_section_must_name_its_sources(index):
    def unfounded(prompt):
        answer = Writer()(prompt)
        return (
            answer
            if "different questions" in prompt or "belong together" in prompt
            else answer.replace('"sources": [1]', '"sources": [99]')
        )

    made = write_documentation(index, model=unfounded, sections=2, coverage=0)
    assert not any(section.by_model for section in made.sections)
    assert any("by its number from 1 to" in why for _, why in made.failed)


def test_questions_without_a_model_name_what_sets_a_branch_apart(index):
    found = find_branches(index.graph)
    asked, failed = generate_questions(index.graph, found)
    assert not failed
    assert [question.branch for question in asked] == list(range(len(found)))
    of = {found[question.branch].titles[-1]: question.text for question in asked}
    assert "surrogate" in next(
        text for title, text in of.items() if title.startswith("def detect_encoding")
    ) or "utf" in str(of)
    assert len({question.text for question in asked}) == len(asked)


def test_a_flat_corpus_and_a_single_passage_have_documentation(tmp_path):
    texts = [
        clew.Document(str(i), f"Topic {i % 3} is about thing {i % 3} and number {i}.")
        for i in range(12)
    ]
    made = write_documentation(clew.Index.from_documents(texts))
    assert made.sections
    links_lead_somewhere(made.save(tmp_path / "flat")[0].parent)
    alone = write_documentation(
        clew.Index.from_documents(["Only one passage <here> with `signs` *and* such."])
    )
    assert len(alone.sections) == 1
    assert not alone.uncovered
    page = alone.save(tmp_path / "alone")[1].read_text(encoding="utf-8")
    assert r"\<here\>" in page
    with pytest.raises(ValueError, match="share from 0 to 1"):
        write_documentation(clew.Index.from_documents(texts), coverage=2)


SMALL = {
    "mine.md": "# Das Bergwerk\n\n## Museum\n\nDas Museum im alten Schacht zeigt Loren und Grubenlampen.\n\n"
    "## Förderung\n\nDas Bergwerk förderte Silber und Blei aus großer Tiefe.",
    "souk.md": "# السوق\n\nالسوق القديم في المدينة يبيع التوابل والأقمشة. يفتح السوق في الصباح الباكر كل يوم.",
    "bread.md": "# Rye bread\n\n## Dough\n\nMix rye flour and water. Let it rest for a night.\n\n## Oven\n\nHeat it well.\n\n"
    "```sh\noven --preheat 250\n```",
    "pond.txt": "The garden pond freezes in January. The goldfish stay at the bottom, where the water is warmer.",
    "means.py": '"""Means of numbers."""\n\n\ndef mean(values):\n    """Return the arithmetic mean."""\n    return sum(values)\n',
}


def folder(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def under_its_own(made, index):
    """Whether every passage stands under its document's heading and its own, or on their page and section."""
    found = find_branches(index.graph)
    outline = DocumentationOutline.compute(index.graph)
    pages, of = outline.pages, outline.branch_of
    for section in made.sections:
        for part in section.explanations:
            for id in (section.sources[n - 1][0] for n in part.sources):
                titles = [short_title(title) for title in found[of[id]].titles[1:][-2:]]
                wanted = (
                    titles if pages[of[id]] == section.page and titles else [pages[of[id]], *titles]
                )
                assert part.heading == " > ".join(wanted)


def test_two_topics_are_two_sections_and_neither_tells_of_the_other(tmp_path):
    files = {
        "a.md": "# Lamp\n\nThe lamp burns oil. It is lit at dusk.\n",
        "b.md": "# Bakery\n\nThe bakery sells rye bread on Fridays.\n",
    }
    made = write_documentation(
        clew.Index.from_documents(folder(tmp_path / "two", files), splitter=clew.Splitter())
    )
    assert [
        (section.title, len(section.sources), section.summary) for section in made.sections
    ] == [("Lamp", 1, ""), ("Bakery", 1, "")]
    made.save(tmp_path / "docs")
    pages = links_lead_somewhere(tmp_path / "docs")
    assert "bakery" not in pages["1-lamp.md"].casefold()
    assert "lamp" not in pages["2-bakery.md"].casefold()
    assert [
        line.split("]")[0] for line in pages["index.md"].splitlines() if line.startswith("- ")
    ] == ["- [Lamp", "- [Bakery"]


def test_a_handful_of_unrelated_files_has_a_section_on_each_and_nothing_of_others_in_it(tmp_path):
    index = clew.Index.from_documents(folder(tmp_path / "small", SMALL), splitter=clew.Splitter())
    made = write_documentation(index, coverage=1)
    under_its_own(made, index)
    titles = {document.id: document.metadata["title"] for document in index.documents}
    assert list(made.sections_of) == [titles[id] for id in sorted(titles)]
    assert not made.uncovered
    for section in made.sections:
        assert {titles[id.split("#")[0]] for id, _ in section.sources} == {section.page}
        code = "oven --preheat" in section.text()
        assert any("oven --preheat" in example for example in section.examples) == code
    together = write_documentation(index, sections=1, coverage=0, budget=10_000)
    under_its_own(together, index)
    assert len(together.sections) == 1, "as many as are asked for"
    assert {
        index.graph.ids[row] for branch in find_branches(index.graph) for row in branch.rows
    } >= {id for id, _ in together.sections[0].sources}
    together.save(tmp_path / "docs")
    first = links_lead_somewhere(tmp_path / "docs")["index.md"]
    assert all(f"- {title}" in first or f"- [{title}" in first for title in titles.values()), (
        "each document is in the contents"
    )


def test_only_what_is_about_as_near_as_its_own_belongs_to_a_section(index):
    graph, found = index.graph, find_branches(index.graph)
    of, about = (
        DocumentationOutline.compute(graph).branch_of,
        [next(i for i, one in enumerate(found) if one.titles[-1].startswith("def loads("))],
    )
    question = "the optional function object_hook is called with the result of any object literal"
    vector = index.embedder.embed_question(question).astype(float)
    whole = index.ask(question, recipe="dense", budget=20_000, limit=int(graph.content.sum()))
    taken = select_for_section(replace(whole, budget=None), graph, found, of, about, vector)
    own = [graph.ids[row] for row in found[about[0]].rows]
    assert [item.id for item in taken][: len(own)] == own, (
        "all of what it is titled after, in order, comes first"
    )
    near = dict(zip(graph.ids, graph.vectors.astype(float) @ vector, strict=True))
    least = max(near[id] for id in own) / 2
    begun = {of[id] for id in near if id in of and near[id] >= least}
    assert {of[item.id] for item in taken} == begun | set(about)
    assert 1 < len(begun) < len(found)
    tight = select_for_section(replace(whole, budget=600), graph, found, of, about, vector)
    read = [item.id for item in tight if of[item.id] == about[0]]
    assert 0 < len(read) < len(own)
    assert tight.ids[: len(read)] == own[: len(read)]
    for item in tight.items[len(read) :]:
        whole_branch = sum(int(graph.tokens[row]) for row in found[of[item.id]].rows)
        assert whole_branch > 600, "in what is left, parts of what no section could hold"
        assert near[item.id] >= least
    sizes = [graph.count(f"[10] {item.heading}\n{item.text}\n\n") for item in tight]
    assert sum(sizes) <= 600
    rest = select_for_section(
        replace(whole, budget=600), graph, found, of, about, vector, read_before=tight.ids
    )
    assert rest.ids[0] == own[len(read)], "what is left of it is for the next section"


def test_one_long_chapter_has_as_many_sections_as_it_needs():
    words = ("harbour", "sails", "anchor", "captain", "storm", "rope", "tide", "lamp")
    said = "\n\n".join(
        f"The {words[i % 8]} of number {i} is told of {words[i // 8]} and of no other ship in {1800 + i}."
        for i in range(64)
    )
    index = clew.Index.from_documents(
        [clew.Document("log", said)], splitter=clew.Splitter(tokens=32)
    )
    assert len(find_branches(index.graph)) == 1
    made = write_documentation(index, budget=200)
    assert len(made.sections) > 2
    assert len(made.uncovered) <= 0.2 * int(index.graph.content.sum())


def test_documents_of_one_title_have_a_page_each(tmp_path):
    files = {
        "a/README.md": "# Notes\n\nApples are picked in October.",
        "b/README.md": "# Notes\n\nComets pass by the sun.",
    }
    made = write_documentation(
        clew.Index.from_documents(folder(tmp_path, files), splitter=clew.Splitter())
    )
    assert [section.page for section in made.sections] == [
        "Notes (a/README.md)",
        "Notes (b/README.md)",
    ]
    assert list(made.sections_of) == ["Notes (a/README.md)", "Notes (b/README.md)"]


def test_other_files_are_never_touched_and_old_pages_go(plain, index, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.md").write_text("# mine", encoding="utf-8")
    with pytest.raises(ValueError, match="other files"):
        plain.save(tmp_path / "mine")
    with pytest.raises(ValueError, match="is a file"):
        plain.save(tmp_path / "mine" / "notes.md")
    plain.save(tmp_path / "docs")
    fewer = write_documentation(index, sections=1, coverage=0).save(tmp_path / "docs")
    assert {file.name for file in (tmp_path / "docs").iterdir()} == {file.name for file in fewer}


def test_the_command_writes_it(tmp_path, capsys):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text(
        "# Boats\n\n## Oars\n\nOars are of ash.\n\n## Sails\n\nSails are of flax.", encoding="utf-8"
    )
    (tmp_path / "notes" / "b.md").write_text(
        "# Nets\n\nNets are mended in winter, when it storms.", encoding="utf-8"
    )
    assert (
        main(
            [
                "document",
                str(tmp_path / "notes"),
                "-o",
                str(tmp_path / "out"),
                "--title",
                "Fishing",
                "--cover",
                "1",
            ]
        )
        == 0
    )
    said = capsys.readouterr().out
    assert "sections on" in said
    assert "3 of 3 passages" in said
    pages = links_lead_somewhere(tmp_path / "out")
    assert pages["index.md"].splitlines()[2] == "# Fishing"
    assert main(["document", str(tmp_path / "notes"), "-o", str(tmp_path / "notes")]) == 2
    assert "other files" in capsys.readouterr().err


def test_the_command_counts_passages_and_not_their_sentences(tmp_path, capsys):
    notes = folder(
        tmp_path / "notes", {"a.md": "# Boats\n\nOars are of ash. Sails are of flax. Nets float."}
    )
    arguments = ["document", str(notes), "-o", str(tmp_path / "docs"), "--sentences"]
    assert main(arguments) == 0
    assert "1 section on 1 page, from 1 of 1 passage\n" in capsys.readouterr().out


def test_the_command_does_not_read_what_it_wrote(tmp_path, capsys):
    notes = folder(
        tmp_path / "notes",
        {
            "a.md": "# Boats\n\nOars are of ash, and sails of flax.",
            "b.md": "# Nets\n\nNets are mended in winter.",
        },
    )
    assert main(["document", str(notes), "-o", str(notes / "docs"), "--title", "Sea"]) == 0
    assert "left out" not in capsys.readouterr().err
    first = links_lead_somewhere(notes / "docs")
    assert main(["document", str(notes), "-o", str(notes / "docs"), "--title", "Sea"]) == 0
    said = capsys.readouterr()
    assert (
        "left out: 4 files that `clew document` made (docs/1-boats.md, docs/2-nets.md, …)"
        in said.err
    )
    assert "from 2 of 2 passages" in said.out
    assert links_lead_somewhere(notes / "docs") == first, "as if they had never been read"
    assert main(["document", str(notes / "docs"), "-o", str(tmp_path / "again")]) == 2
    assert "nothing in it but documentation" in capsys.readouterr().err
    assert not (tmp_path / "again").exists()


def test_the_command_takes_a_model_and_says_first_what_it_would_be_asked(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text(
        "# Boats\n\n## Oars\n\nOars are of ash.\n\n## Sails\n\nSails are of flax.", encoding="utf-8"
    )
    (tmp_path / "scribe.py").write_text(
        "import json\n\n\ndef write(prompt):\n"
        "    if 'different questions' in prompt:\n        return json.dumps(['What are boats made of?'])\n"
        "    if 'belong together' in prompt:\n        return json.dumps({'question': 'What are boats made of?'})\n"
        "    part = {'heading': 'Wood', 'text': 'Oars are of ash.', 'sources': [1]}\n"
        "    return json.dumps({'title': 'Boats', 'summary': 'Of ash.', 'explanations': [part]})\n",
        encoding="utf-8",
    )
    assert main(["document", "notes", "-o", "out", "--model", "scribe:write", "--dry-run"]) == 0
    assert "calls" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()
    assert main(["document", "notes", "-o", "out", "--model", "scribe:write"]) == 0
    assert "1 section on 1 page, from 2 of 2 passages" in capsys.readouterr().out
    assert "Of ash." in next((tmp_path / "out").glob("1-*.md")).read_text(encoding="utf-8")
    assert (tmp_path / "out.answers").exists()
    assert main(["document", "notes", "-o", "out", "--model", "nobody:write"]) == 2


def test_a_section_can_have_what_was_retrieved_and_nothing_else(index):
    """Algorithm 8 as printed."""
    options = {"sections": 4, "coverage": 0, "budget": 400, "recipe": "kurisu"}
    found = write_documentation(index, as_retrieved=True, **options)
    chosen_by_branch = write_documentation(index, **options)
    differ = 0
    for section in found.sections:
        if section.merged_questions:
            continue
        context = index.ask(section.question, recipe="kurisu", budget=400)
        assert {id for id, _ in section.sources} == set(context.ids)
    for one, other in zip(found.sections, chosen_by_branch.sections, strict=False):
        differ += one.source_ids != other.source_ids
    assert differ, "the switch does something"


def test_pivot_questions_and_sections_are_asked_several_at_a_time(index):
    lock, running, most = threading.Lock(), {}, {}
    writer = Writer()

    def model(prompt):
        kind = next(
            (kind for kind in ("different questions", "belong together") if kind in prompt),
            "section",
        )
        with lock:
            running[kind] = running.get(kind, 0) + 1
            most[kind] = max(most.get(kind, 0), running[kind])
        time.sleep(0.02)
        with lock:
            running[kind] -= 1
            return writer(prompt)

    for workers, expected in ((1, {1}), (3, {3})):
        most.clear()
        made = write_documentation(index, model=model, sections=6, coverage=0, workers=workers)
        assert not made.failed
        assert set(most.values()) == expected
    assert len(most) == 3


def test_sections_are_the_same_however_many_are_written_at_a_time(index):
    def model(prompt):
        return Writer()(prompt)

    one, many = (
        write_documentation(index, model=model, sections=5, coverage=0, workers=workers)
        for workers in (1, 4)
    )
    assert one.pages() == many.pages()


def test_sections_that_say_the_same_are_one_and_others_stay():
    def section(question, text):
        sources = ((question, "somewhere"),)
        said = (Explanation("", text, (1,)),)
        return Section(question, question, "", said, (), sources, "page", by_model=True)

    vectors = {
        "oars?": [1.0, 0.0],
        "blades?": [0.95, 0.3122],
        "sails?": [0.6, 0.8],
        "hulls?": [0.848, 0.53],  # near sails, which are said last
        "boats?": [0.87, -0.493],
        "masts?": [0.966, -0.259],  # between oars and boats, which are unlike
    }
    sections = [section(question, "text") for question in vectors]
    merged = merge_sections(
        sections, {}, lambda texts: np.array([vectors[text.split()[0]] for text in texts])
    )
    assert [one.question for one in merged] == ["oars?", "sails?", "boats?"]
    assert [one.merged_questions for one in merged] == [("blades?", "masts?"), ("hulls?",), ()]
