"""Docstrings as Markdown: blocks by the markup that they have, nothing lost, nothing run."""

from __future__ import annotations

import random
import re

import pytest
from markdown_it import MarkdownIt

from clew.documentation.markdown import prose_sentences, safe_markdown
from clew.documentation.markup import markup_to_markdown

HTML = MarkdownIt("commonmark").enable("table")


def link(text, named):
    return f"<<{text}|{named}>>"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("See :meth:`~kit.Box.open` and :class:`a box <kit.Box>`.", "See <<open|kit.Box.open>> and <<a box|kit.Box>>."),
        ("A :term:`slotted class <x>` of :pep:`8`, many :class:`Box`\\es.", "A slotted class of PEP 8, many <<Box|Box>>es."),
        ("Takes *args, **kwargs and __init__.", "Takes \\*args, \\*\\*kwargs and \\_\\_init\\_\\_."),
        ("It *is* **so**, `here <https://a.org>`_.", "It *is* **so**, [here](https://a.org)."),
        ("Do::\n\n    a  =  1\n\n      b\n\nand on.", "Do:\n\n```\na  =  1\n\n  b\n```\n\nand on."),
        (".. code-block:: sh\n   :caption: x\n\n   ls  -l\n", "```sh\nls  -l\n```"),
        (".. versionchanged:: 2.0\n    Faster.", "*Changed in version 2.0.* Faster."),
        (".. note::\n\n   Mind it.", "> **Note:** Mind it."),
        (":param int size: How big\n    it is.\n:raises KeyError: never", "- `size` (`int`): How big\n  it is.\n- *raises* `KeyError`: never"),
        ("Title\n-----\n\ntext", "**Title**\n\ntext"),
        ("- one\n  two\n- three\n\n  four", "- one\n  two\n- three\n\n  four"),
        (">>> f('<b>')\n'*x*'\n\nText", "```pycon\n>>> f('<b>')\n'*x*'\n```\n\nText"),
        ("```py\nx = '``'\n```", "```py\nx = '``'\n```"),
        ("| a | b |\n# no heading", "\\| a \\| b \\|\n\\# no heading"),
    ],
)  # fmt: skip
def test_each_kind_of_markup(text, wanted):
    made = markup_to_markdown(text, lambda text, named: f"LINK({text}|{named})")
    assert made == re.sub(r"<<(.*?)>>", r"LINK(\1)", wanted)


PIECES = ("<b>", "</script>", "`", "``", "```\n", "\n", "\n\n", " ", "    ", "word", ">>> ", "::", ":param x: ", ".. note:: ",
          ".. _a: javascript:b\n", "`x <javascript:y>`_", "a_", "[x](javascript:z)", "- ", "* ", "**", "_", "|", "1. ", "---\n",
          ":class:`", "`", "<!--", "-->", "&#106;", "](", "[", "\\", "> ", "#", "\t", "=====\n", "+--+\n")  # fmt: skip


def test_nothing_in_a_docstring_becomes_html_or_a_link_to_a_program():
    strict = MarkdownIt("commonmark").enable("table")
    strict.validateLink = lambda _url: True
    draw = random.Random(5)
    for _ in range(3000):
        text = "".join(draw.choices(PIECES, k=draw.randrange(1, 16)))
        made = markup_to_markdown(text)
        for token in strict.parse(made):
            for one in (token, *(token.children or ())):
                assert one.type not in ("html_block", "html_inline"), (text, made)
                target = str(one.attrGet("href") or one.attrGet("src") or "")
                assert not target.startswith("javascript:"), (text, made)


def test_sentences_of_prose_are_read_without_code_tables_and_marks():
    text = (
        "# Title here\n\n![Badge of a build](b.svg)\n\n- The **first** step is [to begin](a.md) early.\n"
        "- `x = f(1)` is said of a literal in *this* sentence.\n\n| a table | is no sentence at all. |\n\n"
        "```py\nThe code says nothing of all this.\n```\n\nx = {1: 2} is code without a fence, as cut.\n"
    )
    assert prose_sentences(text, "markdown") == [
        "The first step is to begin early.",
        "`x = f(1)` is said of a literal in this sentence.",
    ]
    assert prose_sentences("It is `here <https://a.org>`_ and :ref:`there <x>`, too.", "rst") == [
        "It is here and there, too."
    ]


@pytest.mark.parametrize(
    "evil",
    ["[a](javascript:alert(1))", "[a]( vbscript:x)", "[t]\n\n[t]: data:text/html,x", "![i](data:image/png;base64,x)", "[Box](crate::Box)"],
)  # fmt: skip
def test_a_link_that_may_not_be_is_shown_as_it_is_written_and_all_else_stays(evil):
    good = "See [`Box`](api.md#Box) and *this*.\n\n```python\nx = 1\n```"
    shown = safe_markdown(f"{good}\n\nThen {evil}\n")
    assert shown.startswith(good)
    tokens = [
        one
        for block in MarkdownIt("commonmark").parse(shown)
        for one in (block, *(block.children or ()))
    ]
    assert [str(one.attrGet("href")) for one in tokens if one.type == "link_open"] == ["api.md#Box"]
    assert not any(one.type in ("image", "html_inline") for one in tokens)
    text = "".join(one.content for one in tokens if one.type == "text")
    assert re.search(r"\w+:[^)]+", evil)[0] in text, "the address is shown"


def test_links_of_rust_lead_to_the_names_that_are_documented():
    known = {"Box.open": "#Box.open", "hidden": "#Walk.hidden"}
    text = "[`open`](crate::wood::Box::open), [`at`](Self::hidden), [hidden()](#method.hidden), [`Vec`](std::vec::hidden), [it](#usage)"
    found = markup_to_markdown(
        text, lambda title, name: f"[`{title}`]({known[name]})" if name in known else f"`{title}`"
    )
    assert (
        found == "[`open`](#Box.open), [`at`](#Walk.hidden), [`hidden()`](#Walk.hidden), `Vec`, it"
    )
