"""A model behind an address that speaks as OpenAI's does: a hosted one, or one of your own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import openai

KEY = "OPENAI_API_KEY"  # the environment's
CLIENT_MISSING = "a model behind an address needs the package openai: pip install 'clew[openai]'"
MAX_SHOWN = 300  # characters of what came in the place of an answer


class _Answer(NamedTuple):
    """A whole answer, or, as `delta`, a piece of one."""

    text: str
    usage: object = None
    delta: str | None = None


@dataclass(frozen=True)
class OpenAICompatible:
    """Asks a model by the chat completions of OpenAI's interface.

    Attributes:
        address: Such as "http://localhost:11434/v1".
        model: The name of the model there.
        key: The key; the environment's OPENAI_API_KEY unless one is given, and none where there is
            none, which servers of your own take.

    Example:
        >>> OpenAICompatible.from_spec("http://localhost:11434/v1#qwen3").model
        'qwen3'
    """

    address: str
    model: str
    key: str = field(default_factory=lambda: os.environ.get(KEY, "none"), repr=False)

    @classmethod
    def from_spec(cls, spec: str) -> OpenAICompatible:
        """Return the model that "ADDRESS#MODEL" names.

        Raises:
            ValueError: There is no name behind the address.
        """
        address, _, model = spec.partition("#")
        if not model:
            raise ValueError(
                "an address is followed by the name of a model, for instance "
                f"http://localhost:11434/v1#qwen3; got {spec!r}"
            )
        return cls(address.rstrip("/"), model)

    def check_client(self) -> None:
        """Check that it can be asked, before the work that it is for.

        Raises:
            ImportError: The package that asks it is not installed.
        """
        if find_spec("openai") is None:
            raise ImportError(CLIENT_MISSING)

    @property
    def metadata(self) -> str:
        """What it is; with `complete` it makes this a model as LlamaIndex has them."""
        return f"{self.model} at {self.address}"

    def complete(self, prompt: str) -> _Answer:
        """Return the answer to a prompt.

        Raises:
            ValueError: What came has another form, such as a page of HTML, or is an error.
        """
        done = self._client.chat.completions.create(
            model=self.model, messages=[{"role": "user", "content": prompt}]
        )
        if not getattr(done, "choices", None):  # the client checks nothing of it
            raise ValueError(f"{self.address} gave no answer, but {str(done)[:MAX_SHOWN]!r}")
        return _Answer(done.choices[0].message.content or "", done.usage)

    def stream_complete(self, prompt: str) -> Iterator[_Answer]:
        """Yield the answer to a prompt, piece by piece; whole, where the server knows no pieces.

        Where the reader goes before the end, the connection is closed, and the server learns it.
        """
        whole, chunk = "", None
        with self._client.chat.completions.create(
            model=self.model, messages=[{"role": "user", "content": prompt}], stream=True
        ) as chunks:
            for chunk in chunks:
                delta = (chunk.choices[0].delta.content or "") if chunk.choices else ""
                whole += delta
                yield _Answer(whole, delta=delta)
        if chunk is None:
            yield self.complete(prompt)

    @cached_property
    def _client(self) -> openai.OpenAI:
        try:
            import openai
        except ModuleNotFoundError as error:
            raise ImportError(CLIENT_MISSING) from error
        return openai.OpenAI(base_url=self.address, api_key=self.key, max_retries=0)
