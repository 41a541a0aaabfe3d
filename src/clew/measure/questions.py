"""Questions on a whole corpus, by the caller's language model: what DA-RAG is judged by.

The procedure is that of LightRAG (arXiv 2410.05779, section 4.1), which DA-RAG (arXiv 2602.08545,
section 6.1) follows: from a description of the corpus a model names five users who would ask it,
and five tasks of each; for each of these it asks five questions that need an understanding of the
whole corpus. That is 125 questions in 26 calls. The description is the model's own here, of
passages that are drawn from the whole corpus at even distances.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

from clew.graph import Graph
from clew.model import Model, parse_json

USERS, TASKS = 5, 5

USERS_PROMPT = """These passages were drawn from a collection, at even distances:

{passages}

Describe the collection. Then name {users} different users who would ask questions about it, and \
for each of them {tasks} different tasks that the collection helps with.

Answer with JSON alone: {{"description": what the collection is about, in at most 100 words,
 "users": [{{"user": who it is, "tasks": [what is to be done, ...]}}, ...]}}"""

QUESTIONS_PROMPT = """A collection: {description}

A user: {user}
A task: {task}

Ask {questions} different questions that this user would ask the collection for this task. Each \
must need an understanding of the whole collection, and must be understood without this text.

Answer with JSON alone: {{"questions": [the questions]}}"""


@dataclass(frozen=True)
class AskedQuestion:
    """A question that is asked of a corpus.

    Attributes:
        id: Its id.
        question: The question.
        user: Who asks it.
        task: What for.
    """

    id: str
    question: str
    user: str = ""
    task: str = ""


@dataclass(frozen=True)
class QuestionSet:
    """Questions on a corpus.

    Attributes:
        questions: The questions.
        description: What the model says of the corpus.
        failed: Users' tasks without questions, each with the reason.
    """

    questions: tuple[AskedQuestion, ...]
    description: str
    failed: tuple[tuple[str, str], ...] = ()


def generate_questions(
    model: object,
    graph: Graph,
    count: int = 125,
    *,
    prompt_tokens: int = 4000,
    workers: int = 4,
    progress: bool = False,
) -> QuestionSet:
    """Return questions on the corpus of a graph.

    Args:
        model: Whatever `clew.Model.of` takes.
        graph: The graph of the corpus.
        count: How many questions are wanted. Every task of every user has its share of them.
        prompt_tokens: The most tokens of passages in the first prompt.
        workers: How many prompts are asked at a time.
        progress: Whether to show a progress bar.

    Raises:
        ValueError: The graph has no passages, the model names no users, or asks no question.

    Example:
        >>> def model(prompt):
        ...     if "at even distances" in prompt:
        ...         return '{"description": "Boats.", "users": [{"user": "Ann", "tasks": ["row"]}]}'
        ...     return '{"questions": ["Of what are oars?"]}'
        >>> generate_questions(model, Graph.of(["Oars are of ash."]), 1).questions[0].question
        'Of what are oars?'
    """
    if count < 1:
        raise ValueError(f"count is a number of questions of at least 1; got {count}")
    asked = Model.of(model)
    passages = even_passages(graph, prompt_tokens)
    if not passages:
        raise ValueError("there are no passages that a prompt could show: questions need a corpus")
    prompt = USERS_PROMPT.format(
        passages="\n\n".join(graph.texts[row] for row in passages), users=USERS, tasks=TASKS
    )
    named = asked.ask(prompt, _read_users)
    if named.value is None:
        raise ValueError(f"the model names no users of this collection: {named.error}")
    description, tasks = named.value
    per_task = -(-count // len(tasks))
    prompts = [
        QUESTIONS_PROMPT.format(description=description, user=user, task=task, questions=per_task)
        for user, task in tasks
    ]
    answers = asked.ask_all(
        prompts, _read_questions, workers=workers, progress=progress, label="questions"
    )
    by_task = [(answer.value or ())[:per_task] for answer in answers]
    # The first of every task, then the second: what is cut off is of no single task.
    rounds = zip_longest(*by_task)
    texts = dict[str, tuple[str, str]]()
    for one_round in rounds:
        for text, task in zip(one_round, tasks, strict=True):
            if text is not None:
                texts.setdefault(text, task)
    failed = tuple(
        (f"{user}: {task}", answer.error)
        for (user, task), answer in zip(tasks, answers, strict=True)
        if answer.value is None
    )
    if not texts:
        raise ValueError(f"the model asks no question; the first time: {failed[0][1]}")
    questions = tuple(
        AskedQuestion(f"q{number}", text, user, task)
        for number, (text, (user, task)) in enumerate(list(texts.items())[:count], 1)
    )
    return QuestionSet(questions, description, failed)


def even_passages(graph: Graph, max_tokens: int) -> list[int]:
    """Return rows of passages from the whole corpus, at even distances, that fit together.

    Example:
        >>> even_passages(Graph.of(["one", "two", "three", "four"]), 4)
        [0, 2]
    """
    rows = [row for row in graph.rows("passage").tolist() if graph.content[row]]
    fitting = list[int]()
    for number in range(1, len(rows) + 1):
        chosen = [rows[place * len(rows) // number] for place in range(number)]
        if int(graph.tokens[chosen].sum()) > max_tokens:
            break
        fitting = chosen
    return fitting


def write_questions(path: str | Path, questions: Iterable[AskedQuestion]) -> None:
    """Write questions to a file, a line of JSON each."""
    lines = (json.dumps(asdict(one), ensure_ascii=False) for one in questions)
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_questions(path: str | Path) -> tuple[AskedQuestion, ...]:
    """Return the questions in a file, of which each line has at least a `question`.

    Raises:
        ValueError: A line is not such an object, by its number; or there are none.
    """
    questions = list[AskedQuestion]()
    for number, line in enumerate(Path(path).read_text(encoding="utf-8-sig").split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number} of {path} is not JSON: {error}") from error
        text = value.get("question") if isinstance(value, dict) else None
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f'line {number} of {path} has no text "question"')
        named = {name: str(value[name]) for name in ("id", "user", "task") if name in value}
        questions.append(AskedQuestion(**{"id": f"q{number}", **named}, question=text.strip()))
    if not questions:
        raise ValueError(f"there are no questions in {path}")
    return tuple(questions)


def _read_users(text: str) -> tuple[str, Sequence[tuple[str, str]]]:
    """Return the description and the (user, task) pairs in a model's answer."""
    answer = parse_json(text)
    users = answer.get("users") if isinstance(answer, dict) else None
    description = answer.get("description") if isinstance(answer, dict) else None
    if not isinstance(description, str) or not description.strip() or not isinstance(users, list):
        raise ValueError('a JSON object with a text "description" and a list "users" is wanted')
    pairs = [
        (str(user["user"]), str(task))
        for user in users[:USERS]
        if isinstance(user, dict) and "user" in user and isinstance(user.get("tasks"), list)
        for task in user["tasks"][:TASKS]
    ]
    if not pairs:
        raise ValueError('none of the users has a text "user" and a list "tasks"')
    return " ".join(description.split()), pairs


def _read_questions(text: str) -> tuple[str, ...]:
    answer = parse_json(text)
    found = answer.get("questions") if isinstance(answer, dict) else answer
    if not isinstance(found, list):
        raise ValueError('a JSON object with a list "questions" is wanted')  # noqa: TRY004  # an answer, no argument
    questions = tuple(
        " ".join(one.split()) for one in found if isinstance(one, str) and one.strip()
    )
    if not questions:
        raise ValueError("the list has no question")
    return questions
