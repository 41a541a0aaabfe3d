"""The caller's language model: any kind of it, prompts that fit, answers that are read and kept."""

from clew.model.cache import AnswerCache
from clew.model.model import (
    MAX_PROMPT_TOKENS,
    RETRIES,
    TIMEOUT,
    AnswerSource,
    CompletingModel,
    InvokableModel,
    Model,
    ModelAnswer,
    ModelError,
    ModelSource,
)
from clew.model.openai_compatible import OpenAICompatible
from clew.model.prompts import FittedPrompt, fit_prompt, fit_text, fit_texts
from clew.model.reading import parse_json, read_score

__all__ = [
    "MAX_PROMPT_TOKENS",
    "RETRIES",
    "TIMEOUT",
    "AnswerCache",
    "AnswerSource",
    "CompletingModel",
    "FittedPrompt",
    "InvokableModel",
    "Model",
    "ModelAnswer",
    "ModelError",
    "ModelSource",
    "OpenAICompatible",
    "fit_prompt",
    "fit_text",
    "fit_texts",
    "parse_json",
    "read_score",
]
