"""A postprocessor that makes another retriever's nodes a connected context under a token budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

import llama_index.core.instrumentation as instrument
from llama_index.core.bridge.pydantic import ConfigDict, Field, field_validator, model_validator
from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.retrievers.clew.candidates import (
    facts_of_nodes,
    narrow_within_budget,
    scored_candidates,
    without_vector,
)
from llama_index.retrievers.clew.nodes import nodes_of
from llama_index.retrievers.clew.questions import bundle_of, bundle_vector
from llama_index.retrievers.clew.store_searches import distinct, with_text
from numpy.typing import ArrayLike
from pydantic import GetPydanticSchema

import clew
from clew.adapters import (
    CounterSource,
    EmbedderSource,
    Method,
    ModelSource,
    OptionNames,
    ask_candidates,
    check_recipe,
    with_recent_vectors,
)

NAMES = OptionNames({"limit": "top_n", "model": "llm", "embedder": "embed_model"})
KNOWN = (*NAMES.of_question, "facts", *NAMES.of_index)

AS_IT_COMES = GetPydanticSchema(lambda _, handler: handler(object))
"""A protocol says nothing that pydantic could check; clew says itself what is wrong."""

dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported without saying so


class ClewPostprocessor(BaseNodePostprocessor):
    """Narrows the nodes it is given to the best for the budget, in reading order; without an index.

    Names and symbols are read in the nodes, and facts about them, unless `facts` come or
    `extractor` is None: they join what the retriever found apart. The nodes' scores are the weights
    that the recipe starts from. Vectors that come along, on the nodes or with the question, are of
    a model that cannot be known here: nodes without scores are compared by `embed_model`, if there
    is one. They count by their order in any case where `facts` or an `extractor` are given, or the
    recipe walks along no links, such as "dense" or "mmr". The model gets no node and no question
    again that it embedded lately: the vectors are kept as long as it lives, in up to 64 MiB, and 4
    MiB for questions. Every other option of `clew.narrow` is a field, too.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="allow", validate_assignment=True)

    recipe: Annotated[str | Method, AS_IT_COMES] = Field(
        default=clew.recipes.DEFAULT, description="A name of clew.recipes.names(), or a method."
    )
    budget: int | None = Field(
        default=2000,
        ge=1,
        description="Tokens of the nodes as a prompt shows them, at most; None: no ceiling.",
    )
    top_n: int | None = Field(
        default=None,
        ge=1,
        description="The exact number of nodes, while there are so many; None: the recipe decides.",
    )
    embed_model: Annotated[EmbedderSource | None, AS_IT_COMES] = Field(
        default=None,
        exclude=True,
        description="The embedding model; None: clew's own.",
    )
    facts: dict[str, Sequence[tuple[str, str, str]]] | None = Field(
        default=None, description="Triples by node or document id."
    )
    count: Annotated[CounterSource, AS_IT_COMES] = Field(
        default=None, exclude=True, description="A tokenizer, or the name of one."
    )
    deadline: float | None = Field(
        default=None,
        gt=0,
        description="Seconds after which the best answer so far comes back, by any recipe.",
    )
    strict: bool = Field(
        default=False,
        description="Whether a budget that holds none of the nodes is an error, not an empty list.",
    )
    llm: Annotated[ModelSource | None, AS_IT_COMES] = Field(
        default=None, exclude=True, description="A language model, for recipes that ask one."
    )
    explain: bool = Field(
        default=True,
        description="Whether the metadata say why and from where each node is read.",
    )

    @field_validator("recipe")
    @classmethod
    def _known_recipe(cls, recipe: object) -> object:
        check_recipe(recipe)
        return recipe

    @model_validator(mode="after")
    def _check_extra(self) -> Self:
        NAMES.check_extra(self.model_extra, KNOWN)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse a name of no option before it is set: what a validator refuses would stay."""
        NAMES.check_field(self, name, KNOWN)
        super().__setattr__(name, value)

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex serialises the class by."""
        return "ClewPostprocessor"

    def context(self, nodes: list[NodeWithScore], query: str | QueryBundle) -> clew.Context:
        """Return the whole context made of the nodes, of which `postprocess_nodes` gives the nodes.

        Args:
            nodes: What another retriever found.
            query: The question.

        Raises:
            ValueError: No nodes, an empty question, or a score that is not a number.
        """
        bundle = bundle_of(query)
        values = {**vars(self), **(self.model_extra or {})}
        config = NAMES.candidates_config(values)
        vector: ArrayLike | None = None
        if config.embedder is not None:
            texts = bundle.custom_embedding_strs
            asked = QueryBundle(bundle.query_str, custom_embedding_strs=texts)
            vector = bundle_vector(with_recent_vectors(config.embedder), asked)
        ask = ask_candidates(
            bundle.query_str,
            scored_candidates(nodes, without_vector),
            config,
            facts=facts_of_nodes(self.facts, distinct(nodes, None)),
            vector=vector,
        )
        options = NAMES.query_options(values)
        return narrow_within_budget(ask, config.count, options, explain=self.explain)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise ValueError(
                "clew chooses nodes for a question: "
                "give postprocess_nodes a query_bundle or a query_str"
            )
        if not with_text(nodes):
            return []
        name, top_n = f"clew {self.recipe}", self.top_n or len(nodes)
        dispatcher.event(
            ReRankStartEvent(query=query_bundle, nodes=nodes, top_n=top_n, model_name=name)
        )
        payload: dict[str, Any] = {
            EventPayload.NODES: nodes,
            EventPayload.MODEL_NAME: name,
            EventPayload.QUERY_STR: query_bundle.query_str,
            EventPayload.TOP_K: top_n,
        }
        with self.callback_manager.event(CBEventType.RERANKING, payload=payload) as event:
            own = {scored.node.node_id: scored.node for scored in distinct(nodes, None)}
            chosen = nodes_of(self.context(nodes, query_bundle), own.get, self.explain)
            event.on_end(payload={EventPayload.NODES: chosen})
        dispatcher.event(ReRankEndEvent(nodes=chosen))
        return chosen

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to lose a field.

        LlamaIndex leaves out what cannot be pickled, and a copy without its tokenizer would count
        otherwise.
        """
        state = super().__getstate__()
        lost = [
            name
            for name in type(self).model_fields
            if name not in state["__dict__"] and name != "callback_manager"
        ]
        if lost:
            raise TypeError(
                f"{lost[0]!r} of this postprocessor cannot be pickled: "
                "give a function or object of a module's own"
            )
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the options that are no fields, too: LlamaIndex makes a copy of the fields alone."""
        extra: dict[str, Any] = state.get("__pydantic_extra__") or {}
        super().__setstate__({**state, "__dict__": {**state["__dict__"], **extra}})
