"""`--model`: the user's own language model, by where Python finds it."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from dataclasses import replace
from typing import Any

from clew.model import Model

RULE = (
    "--model takes MODULE:NAME, a model or a function prompt -> text, or MODULE:CLASS:MODEL, for instance "
    "mymodel:answer, langchain_openai:ChatOpenAI:gpt-4o-mini or llama_index.llms.ollama:Ollama:llama3.1"
)


def model_of(spec: str, **how: Any) -> Model:
    """Return the model that is named: an object in a module, or a class in it, made with `model=` what stands behind the second colon.

    Modules are looked for in the current folder, too. Args: `how` are `answers` and `timeout`, as in `Model.of`.

    Raises:
        ValueError: it is not written so, or has no such name in it. ImportError: there is no such module. TypeError: it is no model.
    """
    module, colon, rest = spec.partition(":")
    name, _, model = rest.partition(":")
    if not colon or not module or not name:
        raise ValueError(f"{RULE}; got {spec!r}")
    here = os.getcwd()  # noqa: PTH109  # an entry of sys.path, which are texts
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"--model {spec}: there is no module {error.name!r}: is its package installed, or its file here? {RULE}"
        ) from error
    if not hasattr(found, name):
        raise ValueError(f"--model {spec}: the module {module} has no {name!r}. {RULE}")
    source = getattr(found, name)
    if inspect.isclass(source):
        source = source(**({"model": model} if model else {}))
    elif model:
        raise ValueError(
            f"--model {spec}: {module}:{name} is no class, so {model!r} cannot be given to it. {RULE}"
        )
    made = Model.of(source, **how)
    return (
        replace(made, name=spec) if inspect.isroutine(source) else made
    )  # its answers are kept by its name: a function's is too short
