"""Questions that a corpus answers, some for every branch of it (Kurisu-G2, algorithm 5).

A language model is asked for questions on each branch. Without a model, the question on a branch
is made of its last titles and its most distinctive words: those of the greatest tf-idf among all
branches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from clew.documentation.branches import Branch, short_title, text_of
from clew.graph import Graph
from clew.model import FittedPrompt, Model, fit_text, parse_json
from clew.text.words import words

MAX_WORDS = 6  # of a question without a model
MAX_SHOWN_TOKENS = 1500  # of a branch that a model is shown


@dataclass(frozen=True)
class DocumentationQuestion:
    """A question on a branch.

    Attributes:
        text: The question.
        branch: The number of the branch.
    """

    text: str
    branch: int


def generate_questions(
    graph: Graph,
    all_branches: Sequence[Branch],
    model: Model | None = None,
    *,
    questions_per_branch: int = 3,
    workers: int = 4,
    progress: bool = False,
) -> tuple[tuple[DocumentationQuestion, ...], tuple[tuple[str, str], ...]]:
    """Return questions on every branch.

    Args:
        graph: The graph of the branches.
        all_branches: The branches.
        model: The language model; None for one question of titles and words on each branch.
        questions_per_branch: How many questions the model is asked for.
        workers: How many prompts are asked at a time.
        progress: Whether to show a progress bar.

    Returns:
        The questions, and the branches that the model has not read to their end, or on which its
        answer could not be used, each with the reason. The latter have the question that they would
        have without a model.
    """
    without_model = _questions_from_words(graph, all_branches)
    if model is None:
        return tuple(DocumentationQuestion(text, i) for i, text in enumerate(without_model)), ()
    prompts = [_prompt(model, graph, branch, questions_per_branch) for branch in all_branches]
    answers = model.ask_all(
        [prompt.text for prompt in prompts],
        _parse_questions,
        workers=workers,
        progress=progress,
        label="questions",
    )
    questions = list[DocumentationQuestion]()
    failed = list[tuple[str, str]]()
    for i, (answer, prompt) in enumerate(zip(answers, prompts, strict=True)):
        task = f"questions on {' > '.join(all_branches[i].titles)}"
        if answer.value is None:
            failed.append((task, answer.error))
            texts = [without_model[i]]
        else:
            texts = answer.value[:questions_per_branch]
            if prompt.left_out:
                failed.append((task, f"not read by the model: {prompt.left_out}"))
        questions += [DocumentationQuestion(text, i) for text in texts]
    return tuple(questions), tuple(failed)


def _questions_from_words(graph: Graph, all_branches: Sequence[Branch]) -> list[str]:
    """For each branch its last two titles, and the words of the greatest tf-idf."""
    counts_of = [
        Counter(word for word in words(text_of(graph, branch)) if not word.isdigit())
        for branch in all_branches
    ]
    branches_with = Counter(word for counts in counts_of for word in counts)
    questions = []
    for branch, counts in zip(all_branches, counts_of, strict=True):
        in_titles = set(words(" ".join(branch.titles)))
        tf_idf = {
            word: (1 + log(count)) * log((1 + len(all_branches)) / branches_with[word])
            for word, count in counts.items()
            if word not in in_titles and len(word) > 2
        }
        best = sorted(tf_idf, key=lambda word: (-tf_idf[word], word))[:MAX_WORDS]
        heading = " ".join(short_title(title) for title in branch.titles[-2:])
        questions.append(f"{heading}: {', '.join(best)}" if best else heading)
    return questions


def _prompt(model: Model, graph: Graph, branch: Branch, count: int) -> FittedPrompt:
    """Return the prompt that shows the beginning of a branch, as much of it as fits."""
    titles = fit_text(
        " > ".join(branch.titles), lambda text: graph.count(text) <= MAX_SHOWN_TOKENS // 4
    )

    def build(shown: Sequence[str]) -> str:
        text = "\n\n".join(shown)
        return (
            f"Below is a part of a collection of documents, headed {titles!r}.\n\n"
            f"---\n{text}\n---\n\n"
            f"Write {count} different questions that a reader could have and that this part "
            "answers. Each must be understood without the text, and be in the language of the "
            "text. Answer with a JSON list of strings and nothing else."
        )

    texts = [graph.texts[row] for row in branch.rows]
    most = model.tokens(build([])) + MAX_SHOWN_TOKENS
    return model.fit(build, texts, "passages", max_tokens=most)


def _parse_questions(answer: str) -> list[str]:
    value = parse_json(answer)
    if isinstance(value, dict) and len(value) == 1:  # some models wrap the list in an object
        value = next(iter(value.values()))
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError("wanted a JSON list of strings")
    questions = [" ".join(text.split()) for text in value if text.strip()]
    if not questions:
        raise ValueError("the list has no question in it")
    return list(dict.fromkeys(questions))
