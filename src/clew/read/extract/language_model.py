"""Facts read by the caller's language model: one prompt for a passage, checked JSON back.

No answer is paid for twice. This is open information extraction as in HippoRAG (arXiv 2405.14831,
section 3.2), in one step instead of two. Asking again for what was missed ("gleaning") is
GraphRAG's (arXiv 2404.16130, section 3.1.2).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from clew.document import Document
from clew.model import Model, fit_text, parse_json
from clew.read.extract.extractor import IncompleteTriples, Passage, Triple
from clew.read.split.splitter import Splitter
from clew.text.estimate import estimate_tokens
from clew.text.words import fold_case, words

MAX_LENGTH = 300  # characters of a name or a relation; more is a clause
TOKENS_PER_FACT = 24  # in an answer
SEAM = 4  # tokens that a tokenizer may make more of a text within a prompt
KEYS = {  # under which models write the parts of a fact
    "subject": ("subject", "head", "source"),
    "relation": ("relation", "predicate", "type"),
    "object": ("object", "tail", "target"),
}
ENDS = ("subject", "object")

PROMPT = """Read the text and write down the facts that it states.
A fact is {form}. Subject and object are names or short noun phrases of the text or its title; \
the relation is the few words that join \
them. Write the full name where the text has a pronoun or a short form for it. \
Dates, numbers and places are objects too. Keep the \
language of the text, and add nothing that it does not state.{limits}
Give at most {max_facts} facts, the most telling first. Answer with JSON and nothing else: \
{{"facts": [{form}, ...]}}, or {{"facts": []}} if \
there are none.

Title: {title}
Text:
{text}
"""
MORE = """
These facts are known already: {known}
Give those that the text states beside these, in the same form, or {{"facts": []}} if there are \
none.
"""
NO_FACTS = '{"facts": []}'
PLAIN_FORM = '["subject", "relation", "object"]'
FORM_WITH_KINDS = '["subject", "kind of the subject", "relation", "object", "kind of the object"]'


class Excerpt(NamedTuple):
    """What one prompt shows: the title of a passage, and its text or a part of it."""

    title: str
    text: str


@dataclass(frozen=True)
class ExtractionEstimate:
    """What an extraction will ask for, before it is paid for.

    Attributes:
        passages: The number of passages that are read.
        prompts: The number of prompts, of all rounds.
        remembered: The number of prompts whose answers are known already.
        tokens_in: The tokens of the other prompts.
        tokens_out: The tokens of their answers, if each has as many facts as it may.

    Example:
        >>> str(ExtractionEstimate(2, 2, 1, 300, 700)).partition(";")[0]
        '2 passages: 1 calls of the model (1 answers are known already), 2 at most'
    """

    passages: int
    prompts: int
    remembered: int
    tokens_in: int
    tokens_out: int

    @property
    def calls(self) -> int:
        """The number of calls of the model."""
        return self.prompts - self.remembered

    @property
    def calls_at_most(self) -> int:
        """The number of calls if every answer must be asked for a second time."""
        return 2 * self.calls

    def __str__(self) -> str:
        known = f" ({self.remembered:,} answers are known already)" if self.remembered else ""
        return (
            f"{self.passages:,} passages: {self.calls:,} calls of the model{known}, "
            f"{self.calls_at_most:,} at most; "
            f"about {self.tokens_in:,} tokens in, up to {self.tokens_out:,} out"
        )


@dataclass(frozen=True, repr=False)
class Triples:
    """Reads facts with a language model, each passage by itself.

    An answer that cannot be read is asked for once more, with the reason. If that fails too, the
    passage is recorded in `Index.failed`, and the index has everything else. Items of a readable
    answer that are no facts are left out.

    Attributes:
        model: A function prompt -> text, a LangChain or LlamaIndex model, or a `clew.model.Model`.
        rounds: How often the model is asked again for what it missed.
        kinds: The kinds of entities; facts about others are left out. Empty: all.
        relations: The only relations allowed, in the order of preference. Empty: all.
        max_facts: The number of facts that one prompt asks for.
        tokens: The number of tokens of a passage, by `count`, that one prompt shows; a longer
            passage is shown in parts, and so is one that is too long for the model's prompts.
        verbatim: Whether to leave out facts whose subject or object is not, word for word, in the
            text or the title.
        workers: The number of prompts under way at a time.
        timeout: Seconds after which a call is given up. None keeps that of a `Model`, else it is
            300.
        answers: Where answers are remembered, an `AnswerCache` or the path of its file. None keeps
            that of a `Model`, else they are remembered as long as this object lives.
        count: The tokenizer, text -> number of tokens.

    Example:
        >>> extractor = Triples(lambda prompt: '{"facts": [["Anna", "met", "Ben"]]}')
        >>> extractor.triples([Passage("a", "Anna met Ben.")])
        [(('Anna', 'met', 'Ben'),)]
    """

    model: Any = field(hash=False)
    rounds: int = 0
    kinds: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    max_facts: int = 30
    tokens: int = 2000
    verbatim: bool = False
    workers: int = field(default=4, compare=False)
    timeout: float | None = field(default=None, compare=False)
    answers: Any = field(default=None, compare=False)
    count: Callable[[str], int] = field(default=estimate_tokens, compare=False)
    corpus_wide: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, minimum in (("rounds", 0), ("max_facts", 1), ("tokens", 1), ("workers", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
                raise ValueError(f"{name} is a whole number of at least {minimum}; got {value!r}")
        for name in ("kinds", "relations"):
            if isinstance(getattr(self, name), str):
                raise TypeError(f"{name} are several texts; got {getattr(self, name)!r}")
            object.__setattr__(self, name, tuple(getattr(self, name)))
        cached = Model.with_cache(self.model, self.answers, self.timeout)
        if self.count is not estimate_tokens:  # that of the model or of the index goes before
            cached = Model.of(cached, count=self.count)
        object.__setattr__(self, "model", cached)
        object.__setattr__(self, "answers", self.model.answers)

    def __repr__(self) -> str:
        """Return the name of the model and what decides the facts, the same in every process."""
        names = ("rounds", "kinds", "relations", "max_facts", "tokens", "verbatim")
        options = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"Triples({self.model.name!r}, {options})"

    def triples(
        self, passages: Sequence[Passage], progress: bool = False
    ) -> list[Sequence[Triple] | IncompleteTriples]:
        """Return the facts of every passage, in their order, whatever the order of the answers."""
        excerpts_of = [self._excerpts(passage) for passage in passages]
        distinct = dict.fromkeys(excerpt for excerpts in excerpts_of for excerpt in excerpts)
        facts, errors = self._ask(list(distinct), progress)
        if self.verbatim:
            facts = {
                excerpt: _stated_verbatim(excerpt, triples) for excerpt, triples in facts.items()
            }
        results: list[Sequence[Triple] | IncompleteTriples] = []
        for excerpts in excerpts_of:
            triples = tuple(dict.fromkeys(fact for excerpt in excerpts for fact in facts[excerpt]))
            failed = [errors[excerpt] for excerpt in excerpts if excerpt in errors]
            results.append(IncompleteTriples(triples, failed[0]) if failed else triples)
        return results

    def estimate(self, passages: Sequence[Passage]) -> ExtractionEstimate:
        """Return what `triples` would ask for.

        Args:
            passages: The passages to read.
        """
        excerpts = [excerpt for passage in passages for excerpt in self._excerpts(passage)]
        prompts = remembered = tokens = 0
        for excerpt in dict.fromkeys(excerpts):
            known: tuple[Triple, ...] = ()
            for done in range(self.rounds + 1):
                prompt = self.prompt(excerpt, known)
                answer = self.model.answers.get(self.model.name, prompt)
                if answer is None:
                    left = self.rounds + 1 - done  # each of these shows the facts of those before
                    shown_again = self.max_facts * TOKENS_PER_FACT * (left * (left - 1) // 2)
                    prompts += left
                    tokens += left * self.count(prompt) + shown_again
                    break
                prompts += 1
                remembered += 1
                new = tuple(fact for fact in self._parse_or_nothing(answer) if fact not in known)
                known += new
                if not new:
                    break
        tokens_per_answer = self.max_facts * TOKENS_PER_FACT + self.count(NO_FACTS)
        out = (prompts - remembered) * tokens_per_answer
        return ExtractionEstimate(len(passages), prompts, remembered, tokens, out)

    def prompt(self, excerpt: Excerpt, known: Sequence[Triple] = ()) -> str:
        """Return the prompt for an excerpt.

        Args:
            excerpt: What is shown.
            known: Facts of the excerpt that are known already; the prompt asks for the others. Of
                those that do not fit under the model's ceiling, the last ones are shown.
        """
        title, text = (side.encode("utf-8", "replace").decode() for side in excerpt)
        limits = ""
        if self.kinds:
            limits += f"\nSubjects and objects are of these kinds alone: {', '.join(self.kinds)}."
        if self.relations:
            limits += f"\nThe relation is one of these: {', '.join(self.relations)}."
        prompt = PROMPT.format(
            form=FORM_WITH_KINDS if self.kinds else PLAIN_FORM,
            limits=limits,
            max_facts=self.max_facts,
            title=title or "(none)",
            text=text,
        )
        if not known:
            return prompt

        def build(shown: Sequence[str]) -> str:
            return prompt + MORE.format(known=f"[{', '.join(shown)}]")

        stated = [json.dumps(fact, ensure_ascii=False) for fact in known]
        latest_first = range(len(stated))[::-1]
        return str(self.model.fit(build, stated, "facts", order=latest_first).text)

    def _excerpts(self, passage: Passage) -> list[Excerpt]:
        """Return what is shown of a passage: all of it, in parts where it is too long for one."""
        model: Model = self.model
        title = fit_text(
            passage.title, lambda text: model.tokens(text) <= model.max_prompt_tokens // 4
        )
        room = model.max_prompt_tokens - model.tokens(self.prompt(Excerpt(title, ""))) - SEAM
        tokens = max(1, min(self.tokens, room))

        def count(text: str) -> int:
            return max(self.count(text), model.tokens(text))

        if self.count(passage.text) <= self.tokens and model.tokens(passage.text) <= max(1, room):
            return [Excerpt(title, passage.text)]
        pieces = Splitter(tokens, count=count)(Document(passage.id, passage.text))
        return [
            Excerpt(title, piece.text)
            for piece in pieces
            if piece.kind == "passage" and piece.text.strip()
        ]

    def _ask(
        self, excerpts: list[Excerpt], progress: bool
    ) -> tuple[dict[Excerpt, tuple[Triple, ...]], dict[Excerpt, str]]:
        """Return the facts of every excerpt, and the errors of those that failed."""
        facts: dict[Excerpt, tuple[Triple, ...]] = dict.fromkeys(excerpts, ())
        errors: dict[Excerpt, str] = {}
        for done in range(self.rounds + 1):
            answers = self.model.ask_all(
                [self.prompt(excerpt, facts[excerpt]) for excerpt in excerpts],
                self._parse,
                workers=self.workers,
                progress=progress,
                label=f"reading facts, round {done}" if done else "reading facts",
            )
            unfinished = []
            for excerpt, answer in zip(excerpts, answers, strict=True):
                if answer.value is None:
                    errors[excerpt] = answer.error
                    continue
                new = tuple(fact for fact in answer.value if fact not in facts[excerpt])
                facts[excerpt] += new
                if new:  # an answer with nothing new ends the rounds of its excerpt
                    unfinished.append(excerpt)
            excerpts = unfinished
        return facts, errors

    def _parse(self, answer: str) -> tuple[Triple, ...]:
        return parse_facts(answer, self.kinds, self.relations)

    def _parse_or_nothing(self, answer: str) -> tuple[Triple, ...]:
        try:
            return self._parse(answer)
        except ValueError:
            return ()


def parse_facts(
    answer: str, kinds: Sequence[str] = (), relations: Sequence[str] = ()
) -> tuple[Triple, ...]:
    """Return the facts in a model's answer, each once.

    Items that are no facts are left out, unless there is nothing else.

    Args:
        answer: The answer: JSON, with any prose around it.
        kinds: The kinds of entities that are allowed. If given, every fact must name the kinds of
            its subject and object.
        relations: The relations that are allowed. A relation is returned as it is written here.

    Raises:
        ValueError: The answer has no JSON or no list of facts, or no item of the list is a fact.

    Example:
        >>> parse_facts('Here: {"facts": [["Anna", "born in", 1926], "x"]}')
        (('Anna', 'born in', '1926'),)
    """
    content = parse_json(answer)
    items: Any = content
    if isinstance(content, dict):
        items = next((content[key] for key in ("facts", "triples") if key in content), None)
    if not isinstance(items, list):
        shown = json.dumps(content, ensure_ascii=False)[:80]
        raise ValueError(f'wanted {{"facts": [...]}}, got {shown}')  # noqa: TRY004  # an answer
    facts = [fact for item in items if (fact := _parse_item(item, bool(kinds))) is not None]
    if items and not facts:
        form = FORM_WITH_KINDS if kinds else PLAIN_FORM
        shown = json.dumps(items[0], ensure_ascii=False)[:80]
        raise ValueError(f"wanted facts as {form}, got {shown}")
    return tuple(dict.fromkeys(_allowed(facts, kinds, relations)))


def _allowed(
    facts: Sequence[tuple[str, ...]], kinds: Sequence[str], relations: Sequence[str]
) -> Iterator[Triple]:
    """Yield the facts whose relation and kinds are allowed."""
    written = {fold_case(relation): relation for relation in relations}
    allowed_kinds = {fold_case(kind) for kind in kinds}
    for subject, relation, object, *kinds_of_ends in facts:
        key = fold_case(relation)
        if relations and key not in written:
            continue
        if {fold_case(kind) for kind in kinds_of_ends} <= allowed_kinds:
            yield subject, written.get(key, relation), object


def _parse_item(item: object, with_kinds: bool) -> tuple[str, ...] | None:
    """Return subject, relation and object, and with kinds those of both ends; None for no fact."""
    parts = _item_parts(item, with_kinds)
    numbers_as_text = [
        str(part) if isinstance(part, (int, float)) and not isinstance(part, bool) else part
        for part in parts
    ]
    texts = tuple(" ".join(part.split()) for part in numbers_as_text if isinstance(part, str))
    is_fact = (
        len(texts) == len(parts) >= len(KEYS)
        and all(0 < len(text) <= MAX_LENGTH for text in texts)
        and fold_case(texts[0])
        and fold_case(texts[2])
    )
    return texts if is_fact else None


def _item_parts(item: object, with_kinds: bool) -> list[object]:
    if isinstance(item, dict):
        parts = [next((item[key] for key in keys if key in item), None) for keys in KEYS.values()]
        if with_kinds:
            parts += [item.get(f"{end}_kind", item.get(f"{end}_type")) for end in ENDS]
        return parts
    if not isinstance(item, list) or len(item) != (5 if with_kinds else 3):
        return []
    if not with_kinds:
        return item
    subject, subject_kind, relation, object, object_kind = item
    return [subject, relation, object, subject_kind, object_kind]


def _stated_verbatim(excerpt: Excerpt, facts: Sequence[Triple]) -> tuple[Triple, ...]:
    """Return the facts whose subject and object are in the excerpt, word for word."""
    text = f" {' '.join(words(' '.join(excerpt)))} "
    return tuple(
        fact
        for fact in facts
        if all(f" {' '.join(words(end))} " in text for end in (fact[0], fact[2]))
    )
