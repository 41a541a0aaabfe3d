"""`--model`: the user's own language model, named by where Python finds it."""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from dataclasses import replace
from pathlib import Path

from clew.cli.parser import Parser, non_negative_integer, positive_integer
from clew.model import MAX_PROMPT_TOKENS, RETRIES, TIMEOUT, Model, ModelSource

METAVAR = "MODULE:NAME"
HELP = (
    "a function prompt -> text or a framework's model in a module, MODULE:CLASS:MODEL, or "
    "ADDRESS#MODEL of a server that speaks as OpenAI's does"
)
RULE = (
    "--model takes MODULE:NAME, a model or a function prompt -> text, or MODULE:CLASS:MODEL, "
    "for instance mymodel:answer, langchain_openai:ChatOpenAI:gpt-4o-mini, "
    "llama_index.llms.ollama:Ollama:llama3.1 or http://localhost:11434/v1#llama3.1"
)


def add_model_options(parser: Parser, purpose: str | None = None) -> None:
    """Declare `--model`, and how a model is asked.

    Args:
        parser: The parser of a command.
        purpose: What the model is for; None where the command declares `--model` itself.
    """
    if purpose is not None:
        parser.add_argument("--model", metavar=METAVAR, help=f"{purpose}: {HELP}")
    parser.add_argument(
        "--prompt-tokens",
        type=positive_integer,
        metavar="N",
        help=f"no prompt has more than N tokens (default: {MAX_PROMPT_TOKENS:,})",
    )
    parser.add_argument(
        "--timeout",
        type=positive_integer,
        metavar="SECONDS",
        help=f"give a call of the model up after so long (default: {TIMEOUT:g})",
    )
    parser.add_argument(
        "--retries",
        type=non_negative_integer,
        metavar="N",
        help=f"make a call that failed again, at most N times (default: {RETRIES})",
    )


def typed_model(options: argparse.Namespace) -> Model | None:
    """Return the model that was typed, if any; see `model_of`."""
    return None if options.model is None else model_of(options.model, options)


def model_of(
    spec: str, options: argparse.Namespace | None = None, *, answers: Path | None = None
) -> Model:
    """Return the model that `--model` names.

    Args:
        spec: MODULE:NAME for an object in a module; MODULE:CLASS:MODEL for a class in it, which is
            called with `model=MODEL`. Modules in the current folder are found, too. ADDRESS#MODEL
            for a model behind an address that speaks as OpenAI's does.
        options: What was typed, with the options of `add_model_options`.
        answers: The file that keeps the model's answers; None for none.

    Raises:
        ValueError: The text has another form, or the module has no such name.
        ImportError: There is no such module, or the package that asks a server is not installed.
        TypeError: The object is no model.
    """
    if spec.startswith(("http://", "https://")):
        return _with_options(spec, options, answers)
    module_name, colon, rest = spec.partition(":")
    name, _, model = rest.partition(":")
    if not colon or not module_name or not name:
        raise ValueError(f"{RULE}; got {spec!r}")
    current_folder = str(Path.cwd())
    if current_folder not in sys.path:
        sys.path.insert(0, current_folder)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"--model {spec}: there is no module {error.name!r}: install its package, or go to the "
            f"folder of its file. {RULE}"
        ) from error
    if not hasattr(module, name):
        raise ValueError(f"--model {spec}: the module {module_name} has no {name!r}. {RULE}")
    source = getattr(module, name)
    if inspect.isclass(source):
        source = source(**({"model": model} if model else {}))
    elif model:
        raise ValueError(
            f"--model {spec}: {module_name}:{name} is no class, so it cannot take the model "
            f"{model!r}. {RULE}"
        )
    asked = _with_options(source, options, answers)
    if inspect.isroutine(source):  # answers are kept by name, and a function's name is too short
        return replace(asked, name=spec)
    return asked


def _with_options(
    source: ModelSource, options: argparse.Namespace | None, answers: Path | None
) -> Model:
    """Return a model that is asked as `add_model_options` has it."""
    return Model.of(
        source,
        answers=answers,
        timeout=getattr(options, "timeout", None),
        max_prompt_tokens=getattr(options, "prompt_tokens", None),
        retries=getattr(options, "retries", None),
    )
