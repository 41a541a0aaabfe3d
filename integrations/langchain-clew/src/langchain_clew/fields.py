"""What the fields of the retriever and the compressor take, as an editor shows it.

pydantic takes these values as they come: a protocol says nothing that it could check, and an index
is not to be copied. clew itself says what is wrong with one. What is said of each part of a union
stays where LangChain makes a schema of the type alone, as it does of a configurable field.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import AfterValidator, GetPydanticSchema

import clew
from clew.adapters import (
    CounterSource,
    EmbedderSource,
    FactsByDocument,
    Method,
    ModelSource,
    check_recipe,
    facts_by_document,
)

AS_IT_COMES = GetPydanticSchema(lambda _, handler: handler(object))
Recipe = TypeVar("Recipe")


def known_recipe(recipe: Recipe) -> Recipe:
    """Return a recipe's name or a method as it came, once it is known to be one."""
    check_recipe(recipe)
    return recipe


def embedder_of(embeddings: EmbedderSource | None) -> clew.Embedder | None:
    """Return the embedder behind LangChain's embeddings; None stands for clew's own."""
    return None if embeddings is None else clew.Embedder.of(embeddings)


RecipeField = Annotated[
    Annotated[str, AS_IT_COMES] | Annotated[Method, AS_IT_COMES], AfterValidator(known_recipe)
]
EmbeddingsField = Annotated[EmbedderSource | None, AS_IT_COMES, AfterValidator(embedder_of)]
FactsField = Annotated[FactsByDocument, AS_IT_COMES, AfterValidator(facts_by_document)]
CounterField = Annotated[CounterSource, AS_IT_COMES]
ModelField = Annotated[ModelSource, AS_IT_COMES] | None
