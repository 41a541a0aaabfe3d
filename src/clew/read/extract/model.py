"""Facts read by the caller's language model: one prompt for a passage, JSON back, checked, and nothing paid for twice.

Open information extraction as in HippoRAG (arXiv 2405.14831, section 3.2), in one step in the place of two; asking again for what was
missed ("gleaning") is GraphRAG's (arXiv 2404.16130, section 3.1.2).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from clew.document import Document
from clew.model import Model, parse_json
from clew.read.extract.extractor import Incomplete, Passage, Triple
from clew.read.split.splitter import Splitter
from clew.text.tokens import estimate_tokens
from clew.text.words import fold_case, words

LONGEST = 300  # letters of a name or a relation: more is a clause
OF_A_FACT = 24  # tokens that a fact takes in an answer
PARTS = {
    "subject": ("subject", "head", "source"),
    "relation": ("relation", "predicate", "type"),
    "object": ("object", "tail", "target"),
}

PROMPT = """Read the text and write down the facts that it states.
A fact is {form}. Subject and object are names or short noun phrases of the text or its title; the relation is the few words that join \
them. Write the full name where the text has a pronoun or a short form for it. Dates, numbers and places are objects too. Keep the \
language of the text, and add nothing that it does not state.{limits}
Give at most {most} facts, the most telling first. Answer with JSON and nothing else: {{"facts": [{form}, ...]}}, or {{"facts": []}} if \
there are none.

Title: {title}
Text:
{text}
"""
MORE = """
These facts are known already: {known}
Give those that the text states beside these, in the same form, or {{"facts": []}} if there are none.
"""
PLAIN, WITH_KINDS = (
    '["subject", "relation", "object"]',
    '["subject", "kind of the subject", "relation", "object", "kind of the object"]',
)

Part = tuple[str, str]  # title, text


@dataclass(frozen=True)
class ExtractionEstimate:
    """What an extraction will ask for, before it is paid for.

    Attributes:
        passages: how many are read. prompts: how many prompts that is, all rounds of them. remembered: those whose answers are known.
        calls: the others; `calls_at_most` if every answer must be asked for a second time. tokens_in, tokens_out: of `calls`, the second
            if every answer has as many facts as it may.
    """

    passages: int
    prompts: int
    remembered: int
    tokens_in: int
    tokens_out: int

    @property
    def calls(self) -> int:
        return self.prompts - self.remembered

    @property
    def calls_at_most(self) -> int:
        return 2 * self.calls

    def __str__(self) -> str:
        known = f" ({self.remembered:,} answers are known already)" if self.remembered else ""
        return (
            f"{self.passages:,} passages: {self.calls:,} calls of the model{known}, {self.calls_at_most:,} at most; "
            f"about {self.tokens_in:,} tokens in, up to {self.tokens_out:,} out"
        )


@dataclass(frozen=True, repr=False)
class Triples:
    """Reads facts with a language model, each passage by itself.

    An answer that cannot be read is asked for once more, with the reason; then the passage is recorded in `Index.failed`, and the index has
    what else was read. Of a readable answer, items that are no facts are left out.

    Attributes:
        model: a function prompt -> text, a LangChain or LlamaIndex model, or a `clew.model.Model`.
        rounds: how often it is asked again for what it missed. kinds: of entities; those of other kinds are left out. relations: the only
            ones allowed, in the order of preference. Empty: all.
        most: facts that are asked for at once. tokens: of a passage that are shown at once, by `count`; a longer one is shown in parts.
        said: leave out facts whose subject or object does not stand in the text or the title, word for word.
        workers: how many prompts are under way at a time. timeout: seconds after which a call is given up, or None.
        answers: where answers are remembered, as an `Answers` or the path of its file; None: as long as this object lives.
    """

    model: Any = field(hash=False)
    rounds: int = 0
    kinds: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    most: int = 30
    tokens: int = 2000
    said: bool = False
    workers: int = field(default=4, compare=False)
    timeout: float | None = field(default=300.0, compare=False)
    answers: Any = field(default=None, compare=False)
    count: Callable[[str], int] = field(default=estimate_tokens, compare=False)
    corpus_wide: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, least in (("rounds", 0), ("most", 1), ("tokens", 1), ("workers", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} is a whole number of at least {least}; got {value!r}")
        for name in ("kinds", "relations"):
            if isinstance(getattr(self, name), str):
                raise TypeError(f"{name} are several texts; got {getattr(self, name)!r}")
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "model", Model.remembering(self.model, self.answers, self.timeout))
        object.__setattr__(self, "answers", self.model.answers)

    def __repr__(self) -> str:
        """What decides the facts: the same in another process, whatever object the model is."""
        own = {
            name: getattr(self, name)
            for name in ("rounds", "kinds", "relations", "most", "tokens", "said")
        }
        return f"Triples({self.model.name!r}, {', '.join(f'{name}={value!r}' for name, value in own.items())})"

    def triples(
        self, passages: Sequence[Passage], progress: bool = False
    ) -> list[Sequence[Triple] | Incomplete]:
        """Return the facts of every passage, in their order, whatever the order of the answers."""
        shown = [self._parts(passage) for passage in passages]
        found, errors = self._asked(
            list(dict.fromkeys(part for parts in shown for part in parts)), progress
        )
        read: list[Sequence[Triple] | Incomplete] = []
        for parts in shown:
            said = tuple(dict.fromkeys(triple for part in parts for triple in found[part]))
            wrong = [errors[part] for part in parts if part in errors]
            read.append(Incomplete(said, wrong[0]) if wrong else said)
        return read

    def estimate(self, passages: Sequence[Passage]) -> ExtractionEstimate:
        """Return what `triples` would ask for."""
        parts = list(dict.fromkeys(part for passage in passages for part in self._parts(passage)))
        prompts = remembered = tokens = 0
        for part in parts:
            known: tuple[Triple, ...] = ()
            for done in range(self.rounds + 1):
                prompt = self.prompt(part, known)
                answer = self.model.answers.get(self.model.name, prompt)
                prompts += 1
                if answer is None:
                    left = self.rounds + 1 - done  # each of these shows the facts of those before
                    prompts += left - 1
                    tokens += left * self.count(prompt) + self.most * OF_A_FACT * (
                        left * (left - 1) // 2
                    )
                    break
                remembered += 1
                new = tuple(triple for triple in self._new(answer) if triple not in known)
                known += new
                if not new:
                    break
        out = (prompts - remembered) * (self.most * OF_A_FACT + self.count('{"facts": []}'))
        return ExtractionEstimate(len(passages), prompts, remembered, tokens, out)

    def prompt(self, part: Part, known: Sequence[Triple] = ()) -> str:
        """Return the prompt for a title and a text, and for what is missing beside facts that are known."""
        title, text = (side.encode("utf-8", "replace").decode() for side in part)
        limits = (
            f"\nSubjects and objects are of these kinds alone: {', '.join(self.kinds)}."
            if self.kinds
            else ""
        )
        limits += (
            f"\nThe relation is one of these: {', '.join(self.relations)}."
            if self.relations
            else ""
        )
        form = WITH_KINDS if self.kinds else PLAIN
        asked = PROMPT.format(
            form=form, limits=limits, most=self.most, title=title or "(none)", text=text
        )
        return asked + MORE.format(known=json.dumps(known, ensure_ascii=False)) if known else asked

    def _parts(self, passage: Passage) -> list[Part]:
        if self.count(passage.text) <= self.tokens:
            return [(passage.title, passage.text)]
        pieces = Splitter(self.tokens, count=self.count)(Document(passage.id, passage.text))
        return [
            (passage.title, piece.text)
            for piece in pieces
            if piece.kind == "passage" and piece.text.strip()
        ]

    def _asked(
        self, parts: list[Part], progress: bool
    ) -> tuple[dict[Part, tuple[Triple, ...]], dict[Part, str]]:
        found: dict[Part, tuple[Triple, ...]] = dict.fromkeys(parts, ())
        errors: dict[Part, str] = {}
        for done in range(self.rounds + 1):
            what = "reading facts" if not done else f"reading facts, round {done}"
            prompts = [self.prompt(part, found[part]) for part in parts]
            answers = self.model.ask_all(
                prompts, self._read, workers=self.workers, progress=progress, what=what
            )
            more = []
            for part, answer in zip(parts, answers, strict=True):
                if answer.value is None:
                    errors[part] = answer.error
                    continue
                new = tuple(triple for triple in answer.value if triple not in found[part])
                found[part] += new
                if new:  # whoever finds nothing more has said all
                    more.append(part)
            parts = more
        spelt = (
            {part: f" {' '.join(words(' '.join(part)))} " for part in found} if self.said else {}
        )
        for part, text in spelt.items():
            found[part] = tuple(
                t
                for t in found[part]
                if all(f" {' '.join(words(end))} " in text for end in (t[0], t[2]))
            )
        return found, errors

    def _read(self, answer: str) -> tuple[Triple, ...]:
        return facts_in(answer, self.kinds, self.relations)

    def _new(self, answer: str) -> tuple[Triple, ...]:
        try:
            return self._read(answer)
        except ValueError:
            return ()


def facts_in(
    answer: str, kinds: Sequence[str] = (), relations: Sequence[str] = ()
) -> tuple[Triple, ...]:
    """Return the facts in a model's answer, each once; items that are none are left out, unless there is nothing else.

    Raises:
        ValueError: there is no JSON in it, it holds no list of facts, or none of its items is a fact.
    """
    try:
        said = parse_json(answer)
    except RecursionError as error:
        raise ValueError("its brackets are nested too deep") from error
    items = (
        next((said[key] for key in ("facts", "triples") if key in said), None)
        if isinstance(said, dict)
        else said
    )
    if not isinstance(items, list):
        raise ValueError(
            f'wanted {{"facts": [...]}}, got {json.dumps(said, ensure_ascii=False)[:80]}'
        )  # noqa: TRY004  # an answer, no argument
    form = WITH_KINDS if kinds else PLAIN
    facts = [fact for item in items if (fact := _fact(item, bool(kinds))) is not None]
    if items and not facts:
        raise ValueError(
            f"wanted facts as {form}, got {json.dumps(items[0], ensure_ascii=False)[:80]}"
        )
    allowed, of_kinds = (
        {fold_case(one): one for one in relations},
        {fold_case(kind) for kind in kinds},
    )
    return tuple(dict.fromkeys(_within(facts, allowed, of_kinds)))


def _within(
    facts: list[tuple[str, ...]], allowed: dict[str, str], kinds: set[str]
) -> Iterator[Triple]:
    """The facts whose relation and kinds are allowed, a relation written as the caller does."""
    for subject, relation, object, *of in facts:
        if (allowed and fold_case(relation) not in allowed) or not {
            fold_case(kind) for kind in of
        } <= kinds:
            continue
        yield subject, allowed.get(fold_case(relation), relation), object


def _fact(item: Any, with_kinds: bool) -> tuple[str, ...] | None:
    """Subject, relation, object and, if they are asked for, both kinds; None for what is no fact."""
    if isinstance(item, dict):
        parts = [
            next((item[name] for name in names if name in item), None) for names in PARTS.values()
        ]
        parts += (
            [item.get(f"{end}_kind", item.get(f"{end}_type")) for end in ("subject", "object")]
            if with_kinds
            else []
        )
    elif isinstance(item, list) and len(item) == (5 if with_kinds else 3):
        parts = [item[0], item[2], item[3], item[1], item[4]] if with_kinds else item
    else:
        return None
    said = [
        str(part) if isinstance(part, (int, float)) and not isinstance(part, bool) else part
        for part in parts
    ]
    texts = tuple(" ".join(part.split()) for part in said if isinstance(part, str))
    fine = (
        len(texts) == len(parts)
        and all(0 < len(text) <= LONGEST for text in texts)
        and fold_case(texts[0])
        and fold_case(texts[2])
    )
    return texts if fine else None
