"""What requests to the server hold, and what comes back, as the OpenAPI document describes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from clew.document import Document
from clew.serve.chat import MAX_QUESTION
from clew.serve.served_index import MAX_NEIGHBOURS

MAX_BUDGET = 100_000  # tokens of a context
MAX_LIMIT = 1000  # items
MAX_ID = 10_000  # characters
MAX_WANTED = 100  # keys of a filter
MAX_CANDIDATES = 1000
MAX_CANDIDATE_SIGNS = 2_000_000  # of all of them: they are indexed before the deadline counts
MAX_MESSAGES = 1000
MAX_METADATA, MAX_METADATA_DEPTH = 20_000, 20  # of a document: characters as JSON, and levels

ANSWERABLE: Mapping[str, tuple[object, ...]] = {
    "n": (1,),
    "tool_choice": ("auto", "none"),
    "function_call": ("auto", "none"),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
    "logprobs": (False,),
}
"""Fields of OpenAI's that ask for a reply of another form, and the values with which none is."""

Plain = str | int | float | bool
Question = Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUESTION, pattern=r"\S")]
Id = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID)]


def checked_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata that every answer can bring along.

    Raises:
        ValueError: They are too long or too deep, or a number is none.
    """
    within: list[Any] = [metadata]
    for _ in range(MAX_METADATA_DEPTH):
        within = [
            inner
            for one in within
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, (dict, list))
        ]
    if within:
        raise ValueError(f"metadata have at most {MAX_METADATA_DEPTH} levels")
    size = len(json.dumps(metadata, allow_nan=False))
    if size > MAX_METADATA:
        raise ValueError(f"metadata have at most {MAX_METADATA:,} characters as JSON; got {size:,}")
    return metadata


def no_truth_value(value: object) -> object:
    """Return what is to be a number, and is no truth value: in Python `True` counts as 1.

    Raises:
        ValueError: It is true or false.
    """
    if isinstance(value, bool):
        raise ValueError("a number is wanted, and neither true nor false")  # noqa: TRY004
    return value


NO_TRUTH_VALUE = BeforeValidator(no_truth_value)
Metadata = Annotated[dict[str, Any], AfterValidator(checked_metadata)]


class StrictBody(BaseModel):
    """A body in which a field that is not known is an error."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class QuestionBody(StrictBody):
    """A question and how it is answered."""

    question: Question = Field(
        description="A text with at least one word.", examples=["How do I cancel a running job?"]
    )
    recipe: str | None = Field(
        None, description="A name of `/api/recipes`; null for the server's own."
    )
    budget: Annotated[int | None, NO_TRUTH_VALUE] = Field(
        None, ge=1, le=MAX_BUDGET, description="The most tokens; null for the server's own number."
    )
    limit: Annotated[int | None, NO_TRUTH_VALUE] = Field(
        None, ge=1, le=MAX_LIMIT, description="So many items, if there are so many."
    )
    where: dict[str, Plain | list[Plain]] | None = Field(
        None,
        max_length=MAX_WANTED,
        description="The wanted values of metadata by key; a list allows any of its values.",
        examples=[{"file_name": ["guide.md"]}],
    )
    min_relevance: Annotated[float | None, NO_TRUTH_VALUE] = Field(
        None, ge=0, le=1, description="What is less relevant than this is left out."
    )

    def keywords(self) -> dict[str, Any]:
        """Return what `ServedIndex.ask` takes, without what is null."""
        names = ("recipe", "budget", "limit", "where", "min_relevance")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class SourceQuery(StrictBody):
    """What is to be opened."""

    id: Id = Field(description="Of an item.")


class NeighboursQuery(SourceQuery):
    """What is to be walked from."""

    limit: int = Field(MAX_NEIGHBOURS, ge=1, le=1000, description="The most neighbours.")


class AskBody(QuestionBody):
    """A question to the index."""

    picture: bool = Field(
        False, description="Whether `html` comes too: a page that shows the path to every item."
    )
    answer: bool = Field(
        True, description="Whether `answer` comes too: the model's, or quotes where there is none."
    )
    stream: bool = Field(
        False,
        description="Whether events come, one after the other: `context`, then `piece`s of the "
        "answer, and at last `answer`; `error` where something went wrong. Quotes need no writing: "
        "they come with `context`, in its `answer`, and no event follows.",
    )


class CandidateBody(StrictBody):
    """What another retriever found."""

    text: str = Field(min_length=1)
    id: Id | None = Field(None, description="Null for its place in the list.")
    metadata: Metadata = Field(default_factory=dict)
    score: Annotated[float | None, NO_TRUTH_VALUE] = Field(
        None, description="Higher for better; all have one, or none."
    )


class NarrowBody(QuestionBody):
    """A question, and what another retriever found for it, the best first."""

    candidates: list[CandidateBody] = Field(
        min_length=1,
        max_length=MAX_CANDIDATES,
        description=f"Together they have at most {MAX_CANDIDATE_SIGNS:,} characters.",
    )

    @model_validator(mode="after")
    def _is_not_too_long(self) -> Self:
        signs = sum(len(one.text) for one in self.candidates)
        if signs > MAX_CANDIDATE_SIGNS:
            raise ValueError(
                f"candidates have at most {MAX_CANDIDATE_SIGNS:,} characters in all; got {signs:,}"
            )
        return self

    def pairs(self) -> list[Any]:
        """Return what `clew.narrow` takes: documents, or pairs of one and its score."""
        documents = [
            Document(one.id or f"candidate-{number}", one.text, one.metadata)
            for number, one in enumerate(self.candidates, 1)
        ]
        scores = [one.score for one in self.candidates]
        if all(score is None for score in scores):
            return list(documents)
        return list(zip(documents, scores, strict=True))


class DocumentBody(StrictBody):
    """A document. What it holds is a text, and never the path of a file."""

    id: Id
    text: str = Field(min_length=1)
    metadata: Metadata = Field(default_factory=dict)
    format: Literal["text", "markdown"] = Field(
        "text", description="What the text is written in, which decides how it is cut."
    )

    def document(self) -> Document:
        """Return the document."""
        return Document(self.id, self.text, self.metadata, format=self.format)


class DocumentsBody(StrictBody):
    """Documents to add."""

    documents: list[DocumentBody] = Field(min_length=1)
    replace: bool = Field(
        False, description="Whether a document of a known id takes its place; else it is an error."
    )


class DeleteBody(StrictBody):
    """Which documents go: those of some ids, or those of some metadata."""

    ids: list[Id] | None = Field(None, min_length=1)
    where: dict[str, Plain | list[Plain]] | None = Field(None, min_length=1, max_length=MAX_WANTED)

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if (self.ids is None) == (self.where is None):
            raise ValueError("give `ids` or `where`, one of the two")
        return self


class SyncBody(StrictBody):
    """What the index is made to hold."""

    documents: list[DocumentBody] | None = Field(
        None, min_length=1, description="These alone; null for the server's folder as it is now."
    )


class ChatPart(BaseModel):
    """A part of a message; only texts are read."""

    type: str = "text"
    text: str = ""


class ChatMessageBody(BaseModel):
    """A message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ChatPart] | None = None

    @property
    def text(self) -> str:
        """What the message says."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(BaseModel):
    """How a stream of chunks is sent."""

    include_usage: bool | None = False


class ChatBody(BaseModel):
    """A request as OpenAI's chat completions have it.

    What would make a reply of another form is refused. What is not named here has no effect, such
    as a `temperature`; the reply names it in `left_aside`.
    """

    model_config = ConfigDict(extra="allow")

    model: str = Field("clew", description="A name of `/v1/models`: `clew`, or `clew/RECIPE`.")
    messages: list[ChatMessageBody] = Field(min_length=1, max_length=MAX_MESSAGES)
    stream: bool | None = False
    stream_options: StreamOptions | None = None

    @model_validator(mode="after")
    def _can_be_answered(self) -> Self:
        for name, value in self._others.items():
            if name in ANSWERABLE and not any(_is_same(value, one) for one in ANSWERABLE[name]):
                raise ValueError(f"this server has no {name!r} but {ANSWERABLE[name][0]!r}")
        return self

    @property
    def left_aside(self) -> list[str]:
        """The names of the fields, and of the parts of messages, that came and have no effect."""
        parts = (
            f"messages.{number}.content.{part.type}"
            for number, message in enumerate(self.messages)
            for part in (message.content if isinstance(message.content, list) else ())
            if part.type != "text"
        )
        return [*(name for name in self._others if name not in ANSWERABLE), *dict.fromkeys(parts)]

    @property
    def _others(self) -> dict[str, Any]:
        """The fields that came and are not named here, but for those that say nothing."""
        came = self.model_extra or {}
        return {name: value for name, value in came.items() if value not in (None, [], {}, "")}


def _is_same(value: object, other: object) -> bool:
    return type(value) is type(other) and value == other


class ErrorDetail(BaseModel):
    """What went wrong."""

    message: str = Field(description="What came, what was wanted, what to do.")
    type: str = Field(description="A name for programs, such as `invalid_request`.")


class ErrorBody(BaseModel):
    """What comes back where something went wrong."""

    error: ErrorDetail


class ChangeBody(BaseModel):
    """What a change did."""

    added: list[str]
    replaced: list[str]
    deleted: list[str]
    facts_changed: list[str] = Field(
        description="Documents that were there before, and whose given facts are others now."
    )
    facts_lost: list[str] = Field(
        description="Those of them without any: the facts that came with a text go with it."
    )
    documents: int = Field(description="How many there are now.")
    saved: bool = Field(description="Whether the change is on the disk.")


class RecipeBody(BaseModel):
    """A method by its name."""

    name: str
    does: str
    when: str
    source: str
    is_default: bool


class NeighbourBody(BaseModel):
    """What something is linked to."""

    id: str
    kind: str
    edge: str = Field(description="The kinds of the edges between them.")
    weight: float
    fact: str = Field(description='The fact that the edge states, or "".')
    beginning: str = Field(description="Of its text.")


class SourceBody(BaseModel):
    """Where something stands."""

    id: str
    kind: str
    opened: str = Field(description="The id of the node that the rest is of.")
    document: str | None
    text: str = Field(description="Of the document, from `offset` on, at most 200,000 characters.")
    offset: int
    length: int = Field(description="Of the whole document, in characters.")
    span: list[int] = Field(description="First and last character in the document, half-open.")
    heading: str
    location: str
    lines: list[int] | None
    metadata: dict[str, Any]
    read_from: list[str]


class ShownHopBody(BaseModel):
    """One step of the path from the question to an item."""

    source: str
    kind: str
    target: str
    text: str
    weight: float
    forward: bool
    cost: float | None


class ShownItemBody(BaseModel):
    """One thing to read; see `clew.Item`."""

    id: str
    text: str
    score: float
    role: str
    kind: str
    tokens: int
    source: str | None
    document: str | None
    heading: str
    span: list[int] | None
    group: str | None
    location: str
    lines: list[int] | None
    anchor: str | None
    page: int | None
    relevance: float | None
    metadata: dict[str, Any]
    why: list[ShownHopBody]
    why_in_words: str = Field(description="`why` as a sentence without a full stop.")


class ShownAnswerBody(BaseModel):
    """An answer in words."""

    text: str = Field(description="With the numbers of items in brackets, from 1.")
    by: str = Field(description="`quotes`, or the name of the model.")
    cited: dict[str, str] = Field(description="The id of each item that is cited, by number.")


class ShownContextBody(BaseModel):
    """A context, as `Context.to_dict` has it; see `clew.Context` for what is not named here."""

    model_config = ConfigDict(extra="allow")

    question: str
    items: list[ShownItemBody]
    text: str
    tokens: int
    budget: int | None
    nothing_found: str
    remark: str = Field(
        description='That the best passage alone is larger than the budget, in words, or "".'
    )
    relevance: float | None
    answer: ShownAnswerBody | None = None
    html: str | None = Field(None, description="Where `picture` was asked for.")
