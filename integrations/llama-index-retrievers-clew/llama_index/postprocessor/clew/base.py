"""A postprocessor that makes another retriever's nodes a connected context under a token budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import llama_index.core.instrumentation as instrument
from llama_index.core.bridge.pydantic import ConfigDict, Field, field_validator
from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.retrievers.clew.asking import bundle_of, given_vector
from llama_index.retrievers.clew.candidates import (
    facts_among,
    narrowed,
    readable,
    scored,
    without_vector,
)
from llama_index.retrievers.clew.nodes import nodes_of

import clew

dispatcher = instrument.get_dispatcher(__name__)  # type: ignore[attr-defined]  # re-exported without saying so


class ClewPostprocessor(BaseNodePostprocessor):
    """Narrows the nodes it is given to those worth the budget, in reading order; no index is needed.

    The nodes' scores are the weights that the recipe starts from. Vectors that come along, on the nodes or with the question, are of a
    model that cannot be known here, so the question and the nodes are embedded by `embed_model`.
    """

    model_config = ConfigDict(
        arbitrary_types_allowed=True, extra="forbid", validate_assignment=True
    )

    recipe: Any = Field(
        default=clew.recipes.DEFAULT, description="A name of clew.recipes.names(), or a method."
    )
    budget: int | None = Field(
        default=2000,
        ge=1,
        description="The most tokens of the nodes as a prompt shows them; None: no ceiling.",
    )
    top_n: int | None = Field(
        default=None,
        ge=1,
        description="Exactly so many nodes while there are so many; None: as the recipe has it.",
    )
    embed_model: Any = Field(
        default=None,
        exclude=True,
        description="The embedding model; None: clew's own, fitted on the nodes.",
    )
    facts: dict[str, Sequence[tuple[str, str, str]]] | None = Field(
        default=None, description="Triples by node or document id."
    )
    count: Callable[[str], Any] | str | None = Field(
        default=None, exclude=True, description="A tokenizer, or the name of one."
    )
    deadline: float | None = Field(
        default=None,
        gt=0,
        description="Seconds after which an anytime recipe returns its best so far.",
    )
    llm: Any = Field(
        default=None, exclude=True, description="A language model, for recipes that ask one."
    )

    @field_validator("recipe")
    @classmethod
    def _known_recipe(cls, recipe: Any) -> Any:
        clew.recipes.get(recipe)
        return recipe

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex serialises the class by."""
        return "ClewPostprocessor"

    def context(self, nodes: list[NodeWithScore], query: str | QueryBundle) -> clew.Context:
        """Return the whole context made of the nodes, of which `postprocess_nodes` gives the nodes.

        Raises:
            ValueError: no nodes, an empty question, a score that is not a number.
        """
        bundle = bundle_of(query)
        vector = None
        if self.embed_model is not None:
            asked = QueryBundle(
                bundle.query_str, custom_embedding_strs=bundle.custom_embedding_strs
            )
            vector = given_vector(clew.Embedder.of(self.embed_model), asked)
        how = {
            "recipe": self.recipe,
            "budget": self.budget,
            "embedder": self.embed_model,
            "count": self.count,
            "facts": facts_among(self.facts, [one.node for one in nodes]),
            "limit": self.top_n,
            "deadline": self.deadline,
            "model": self.llm,
            "vector": vector,
        }
        return narrowed(bundle.query_str, scored(nodes, without_vector), how)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise ValueError(
                "clew chooses nodes for a question: give postprocess_nodes a query_bundle or a query_str"
            )
        if not readable(nodes):
            return []
        name, wanted = f"clew {self.recipe}", self.top_n or len(nodes)
        dispatcher.event(
            ReRankStartEvent(query=query_bundle, nodes=nodes, top_n=wanted, model_name=name)
        )
        payload: Mapping[str, Any] = {
            EventPayload.NODES: nodes,
            EventPayload.MODEL_NAME: name,
            EventPayload.QUERY_STR: query_bundle.query_str,
            EventPayload.TOP_K: wanted,
        }
        with self.callback_manager.event(CBEventType.RERANKING, payload=dict(payload)) as event:
            own = {one.node.node_id: one.node for one in nodes}
            chosen = nodes_of(self.context(nodes, query_bundle), own.get)
            event.on_end(payload={EventPayload.NODES: chosen})
        dispatcher.event(ReRankEndEvent(nodes=chosen))
        return chosen

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to lose a field: LlamaIndex leaves out what cannot be pickled, and a copy without its tokenizer would count otherwise."""
        state = super().__getstate__()
        lost = [
            name
            for name in type(self).model_fields
            if name not in state["__dict__"] and name != "callback_manager"
        ]
        if lost:
            raise TypeError(
                f"{lost[0]!r} of this postprocessor cannot be pickled: give a function or object of a module's own"
            )
        return state
