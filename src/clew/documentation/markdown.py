"""Text as Markdown: escaped, in a fence, or as it is; and the sentences and examples in a text."""

from __future__ import annotations

import re
from textwrap import dedent

from clew.documentation.fences import PROSE
from clew.text.spans import sentences

MIN_SENTENCE = 20  # characters; a sentence of a summary is longer
SENTENCE_ENDS = ".!?。！？।؟"

_DOCSTRING = re.compile(r'("""|\'\'\')(.+?)(?:\1|\Z)', re.DOTALL)
_SESSION = re.compile(r"^[ \t]*>>> .*(?:\n(?![ \t]*$).*)*", re.MULTILINE)
_FENCED = re.compile(r"^(```+|~~~+)[^\n]*\n(.*?)^\1", re.MULTILINE | re.DOTALL)
_LITERAL = re.compile(  # with the role that reStructuredText may put before it
    r"(?::\w+(?::\w+)?:)?``?([^`\n]+)``?"
)
_MARKUP = re.compile(r"([\\`*_<>\[\]#|])")


def escape_markdown(text: str) -> str:
    r"""Return the text without meaning as Markdown.

    Example:
        >>> print(escape_markdown("a *b*"))
        a \*b\*
    """
    return _MARKUP.sub(r"\\\1", text)


def one_line(text: str) -> str:
    """Return the text on one line, without meaning as Markdown."""
    return escape_markdown(" ".join(text.split()))


def prose_with_literals(text: str) -> str:
    r"""Return the text without meaning as Markdown, but for its literals.

    The literals of reStructuredText and Markdown become literals in single backticks.

    Example:
        >>> print(prose_with_literals("``load`` takes *args"))
        `load` takes \*args
    """
    parts = _LITERAL.split(text)
    return "".join(f"`{part}`" if i % 2 else escape_markdown(part) for i, part in enumerate(parts))


def as_markdown(text: str, language: str) -> str:
    """Return the text as Markdown.

    Args:
        text: The text.
        language: What `fences.language_of` returns: Markdown stays as it is, other prose is
            escaped, code and data stand in a fence.
    """
    if language == "markdown":
        return text
    if language in PROSE:
        return escape_markdown(text.strip("\n"))
    code = _dedent(text)
    fence = fence_for(text)
    return f"{fence}{language}\n{code}\n{fence}"


def fence_for(text: str) -> str:
    """Return a fence that the text does not contain."""
    return "```" if "```" not in text else "````"


def examples_in(text: str) -> list[str]:
    r"""Return the Python sessions and the fenced code blocks in a text.

    Example:
        >>> examples_in("Try it:\n\n    >>> 1 + 1\n    2\n")
        ['>>> 1 + 1\n2']
    """
    sessions = [_dedent(match.group(0)) for match in _SESSION.finditer(text)]
    blocks = [match.group(2).rstrip() for match in _FENCED.finditer(text)]
    return sessions + blocks


def prose_sentences(text: str, language: str) -> list[str]:
    """Return the whole sentences of the prose in a text, each on one line.

    Args:
        text: The text.
        language: What `fences.language_of` returns; of code, the documentation strings are prose.
    """
    if language in PROSE:
        passages = [text]
    else:
        passages = [match.group(2) for match in _DOCSTRING.finditer(text)]
    result = list[str]()
    for passage in passages:
        for start, end in sentences(passage, 0, len(passage), "en"):
            sentence = " ".join(passage[start:end].split())
            is_whole = len(sentence) > MIN_SENTENCE and sentence[-1:] in SENTENCE_ENDS
            if is_whole and ">>>" not in sentence:
                result.append(sentence)
    return result


def _dedent(text: str) -> str:
    """The text moved to the left as a whole.

    A session that starts at its first sign, without the space before it, keeps its first line.
    """
    lines = text.strip("\n").split("\n")
    if len(lines) > 1 and lines[0].startswith(">>>"):
        return "\n".join([lines[0], dedent("\n".join(lines[1:]))])
    return dedent("\n".join(lines))
