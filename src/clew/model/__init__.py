"""The caller's language model: any kind of it, prompts that fit, answers that are read and kept."""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
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
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "cache": "AnswerCache",
            "model": (
                "MAX_PROMPT_TOKENS RETRIES TIMEOUT AnswerSource CompletingModel InvokableModel "
                "Model ModelAnswer ModelError ModelSource"
            ),
            "openai_compatible": "OpenAICompatible",
            "prompts": "FittedPrompt fit_prompt fit_text fit_texts",
            "reading": "parse_json read_score",
        },
    )

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
