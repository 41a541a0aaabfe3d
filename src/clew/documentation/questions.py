"""Questions that a corpus answers, some for every branch of it (Kurisu-G2, algorithm 5).

A language model is asked for m questions on each branch. Without one, a branch asks by its last titles and the words that set it apart:
those of the greatest tf-idf among all branches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from clew.documentation.branches import Branch, short, text_of
from clew.graph import Graph
from clew.model import Model, parse_json
from clew.text.words import words

WORDS = 6  # that a question without a model is made of
READ = 1500  # tokens of a branch that a model is shown


@dataclass(frozen=True)
class DocumentationQuestion:
    """A question and the branch, by its number, that it was made of."""

    text: str
    branch: int


def questions(
    graph: Graph,
    found: Sequence[Branch],
    model: Any = None,
    *,
    each: int = 3,
    workers: int = 4,
    progress: bool = False,
) -> tuple[tuple[DocumentationQuestion, ...], tuple[tuple[str, str], ...]]:
    """Return questions on every branch, and the branches on which the model's answer could not be used, with the reason.

    Args:
        found: the branches. model: whatever `clew.model.Model.of` takes, or None for one question by titles and words on each.
        each: how many questions the model is asked for. A branch that it failed on is asked about without it.
    """
    plain = _by_words(graph, found)
    if model is None:
        return tuple(DocumentationQuestion(text, i) for i, text in enumerate(plain)), ()
    prompts = [_prompt(graph, branch, each) for branch in found]
    answers = Model.of(model).ask_all(
        prompts, _read, workers=workers, progress=progress, what="questions"
    )
    made, failed = list[DocumentationQuestion](), list[tuple[str, str]]()
    for i, answer in enumerate(answers):
        if answer.value is None:
            failed.append((f"questions on {' > '.join(found[i].titles)}", answer.error))
        said = [plain[i]] if answer.value is None else answer.value[:each]
        made += [DocumentationQuestion(text, i) for text in said]
    return tuple(made), tuple(failed)


def _by_words(graph: Graph, found: Sequence[Branch]) -> list[str]:
    counted = [
        Counter(word for word in words(text_of(graph, branch)) if not word.isdigit())
        for branch in found
    ]
    among = Counter(word for counts in counted for word in counts)
    made = []
    for branch, counts in zip(found, counted, strict=True):
        heading, named = (
            " ".join(short(title) for title in branch.titles[-2:]),
            set(words(" ".join(branch.titles))),
        )
        own = {word: times for word, times in counts.items() if word not in named and len(word) > 2}
        rare = {
            word: (1 + log(times)) * log((1 + len(found)) / among[word])
            for word, times in own.items()
        }
        best = sorted(rare, key=lambda word: (-rare[word], word))[:WORDS]
        made.append(f"{heading}: {', '.join(best)}" if best else heading)
    return made


def _prompt(graph: Graph, branch: Branch, each: int) -> str:
    text, shown = "", list[str]()
    for row in branch.rows:
        if shown and graph.count("\n\n".join([*shown, graph.texts[row]])) > READ:
            break
        shown.append(graph.texts[row])
    text = "\n\n".join(shown)
    return (
        f"Below is a part of a collection of documents, headed {' > '.join(branch.titles)!r}.\n\n---\n{text}\n---\n\n"
        f"Write {each} different questions that a reader could have and that this part answers. Each must be understood without the text, "
        "and be in the language of the text. Answer with a JSON list of strings and nothing else."
    )


def _read(answer: str) -> list[str]:
    said = parse_json(answer)
    if isinstance(said, dict) and len(said) == 1:  # some models wrap the list in an object
        said = next(iter(said.values()))
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        raise ValueError("wanted a JSON list of strings")
    asked = [" ".join(one.split()) for one in said if one.strip()]
    if not asked:
        raise ValueError("the list has no question in it")
    return list(dict.fromkeys(asked))
