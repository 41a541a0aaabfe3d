"""A section that a language model writes from numbered sources (Kurisu-G2, algorithm 9).

The model must name the sources of every explanation; an answer that does not is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.context import Context
from clew.documentation.questions import DocumentationQuestion
from clew.documentation.sections import Explanation, Section
from clew.model import Model, parse_json


def write_section(model: Model, extract: Section, context: Context) -> tuple[Section, str]:
    """Return the section as a language model writes it.

    Args:
        model: The language model.
        extract: The same section without a model.
        context: What the section is made of.

    Returns:
        The section, and "" or which sources the model has not read; or `extract` and the reason why
        the answer could not be used.
    """
    items = {item.id: item for item in context}
    sources = [
        f"[{number}] {items[id].heading}\n{items[id].text}"
        for number, id in enumerate(extract.source_ids, 1)
    ]

    def build(shown: Sequence[str]) -> str:
        numbered = "\n\n".join(shown)
        return (
            "Write one section of documentation that answers the question "
            f"{context.question!r}, using only the numbered sources below.\n\n"
            f"{numbered}\n\nAnswer with a JSON object and nothing else: "
            '{"title": "a few words", "summary": "one to three sentences", '
            '"explanations": [{"heading": "...", "text": "Markdown", "sources": [1]}], '
            '"examples": ["code, or a case, that stands in the sources"]}. '
            "Every explanation names the numbers of the sources that it is taken from. "
            "Write in the language of the sources. Leave examples empty where there are none."
        )

    prompt = model.fit(build, sources, "sources")
    shown = max(1, prompt.shown)
    answer = model.ask(prompt.text, lambda text: _parse_section(text, extract, shown))
    if answer.value is None:
        return extract, answer.error
    return answer.value, f"not read by the model: {prompt.left_out}" if prompt.left_out else ""


def write_pivot_question(
    model: Model, pivot: DocumentationQuestion, cluster: Sequence[DocumentationQuestion]
) -> tuple[str, str]:
    """Return one question for a whole cluster.

    Args:
        model: The language model.
        pivot: The question in the middle of the cluster.
        cluster: All its questions.

    Returns:
        The question, and "" or how many the model has not read; or that in the middle and the
        reason why the answer could not be used.
    """
    if len(cluster) == 1:
        return pivot.text, ""

    def build(shown: Sequence[str]) -> str:
        listed = "\n".join(f"- {text}" for text in shown)
        return (
            f"These questions belong together:\n\n{listed}\n\n"
            "Write the one question that stands for all of them, in their language. "
            'Answer with a JSON object {"question": "..."} and nothing else.'
        )

    texts = [question.text for question in cluster]
    middle_first = sorted(range(len(texts)), key=lambda i: texts[i] != pivot.text)
    prompt = model.fit(build, texts, "questions", order=middle_first)
    answer = model.ask(prompt.text, _parse_question)
    if answer.value is None:
        return pivot.text, answer.error
    return answer.value, f"not read by the model: {prompt.left_out}" if prompt.left_out else ""


def _parse_question(answer: str) -> str:
    value = parse_json(answer)
    question = value.get("question") if isinstance(value, dict) else None
    if not isinstance(question, str) or not question.strip():
        raise ValueError('wanted a JSON object with "question"')
    return " ".join(question.split())


def _parse_section(answer: str, extract: Section, source_count: int) -> Section:
    value = parse_json(answer)
    if not isinstance(value, dict) or not all(
        isinstance(value.get(key), str) and value[key].strip() for key in ("title", "summary")
    ):
        raise ValueError('wanted a JSON object with "title" and "summary"')
    explanations = tuple(
        _parse_explanation(part, source_count) for part in value.get("explanations") or []
    )
    if not explanations:
        raise ValueError('"explanations" is empty')
    examples = (str(example).strip() for example in value.get("examples") or [])
    return replace(
        extract,
        title=" ".join(value["title"].split()),
        summary=value["summary"].strip(),
        explanations=explanations,
        examples=tuple(example for example in examples if example),
        by_model=True,
    )


def _parse_explanation(part: object, source_count: int) -> Explanation:
    text = part.get("text") if isinstance(part, dict) else None
    if not isinstance(part, dict) or not isinstance(text, str) or not text.strip():
        raise ValueError('every explanation is an object with "heading", "text" and "sources"')
    numbers = part.get("sources")
    if (
        not isinstance(numbers, list)
        or not numbers
        or not all(isinstance(n, int) and 1 <= n <= source_count for n in numbers)
    ):
        raise ValueError(
            f"every explanation names at least one source, by its number from 1 to {source_count}; "
            f"got {numbers!r}"
        )
    heading = " ".join(str(part.get("heading") or "").split())
    return Explanation(heading, text.strip(), tuple(dict.fromkeys(numbers)))
