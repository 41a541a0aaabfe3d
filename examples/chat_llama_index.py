"""A chatbot over your own files: clew looks up and cites, any model of LlamaIndex's answers.

    python examples/chat_llama_index.py FOLDER
    python examples/chat_llama_index.py FOLDER --model llama_index.llms.ollama:Ollama:qwen3
    python examples/chat_llama_index.py FOLDER --model llama_index.llms.ollama:Ollama:qwen3 --engine

Without a model it quotes the sentences that answer. `--engine` asks by LlamaIndex's own chat
engine, in which clew is the retriever. `clew chat FOLDER` is the same without a framework.
"""

import argparse
from collections.abc import Callable, Iterator
from importlib import import_module

from llama_index.core.chat_engine import CondensePlusContextChatEngine
from llama_index.core.llms import LLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.retrievers.clew import ClewRetriever

import clew
from clew.conversation import ANSWER
from clew.show import location_of

Answer = Callable[[str], Iterator[str]]


def by_conversation(index: clew.Index, model: LLM | None) -> Answer:
    """Return what answers by clew's own conversation."""
    conversation = clew.Conversation.of(index, model=model)

    def answer(question: str) -> Iterator[str]:
        yield from conversation.ask(question)
        for number, item in conversation.turns[-1].sources.items():
            yield f"\n[{number}] {location_of(item)}"

    return answer


class Numbered(BaseNodePostprocessor):
    """Writes before each passage the number that answers cite."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        for number, one in enumerate(nodes, 1):
            one.node.set_content(f"[{number}] {one.text}")
        return nodes


def by_engine(index: clew.Index, model: LLM) -> Answer:
    """Return what answers by LlamaIndex's engine: the model writes each question in full first."""
    engine = CondensePlusContextChatEngine.from_defaults(
        retriever=ClewRetriever(index, budget=1500),
        llm=model,
        memory=ChatMemoryBuffer.from_defaults(token_limit=4000),
        node_postprocessors=[Numbered()],
        context_prompt=f"{ANSWER}\n\n{{context_str}}",
    )

    def answer(question: str) -> Iterator[str]:
        response = engine.stream_chat(question)
        yield from response.response_gen
        for number, one in enumerate(response.source_nodes, 1):
            yield f"\n[{number}] {one.node_id}" if f"[{number}]" in response.response else ""

    return answer


def main(arguments: list[str] | None = None, model: LLM | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", help="files and folders, in any format and script")
    parser.add_argument("--model", metavar="MODULE:CLASS:MODEL", help="none: quotes")
    parser.add_argument("--engine", action="store_true", help="ask by LlamaIndex's own engine")
    parser.add_argument("--ask", action="append", metavar="QUESTION", help="ask this and leave")
    options = parser.parse_args(arguments)
    if options.model:
        module, name, called = options.model.split(":", 2)
        model = getattr(import_module(module), name)(model=called)
    if options.engine and model is None:
        parser.error("--engine needs a --model")
    index = clew.Index.from_documents(options.files, splitter=clew.Splitter())
    answer = (by_engine if options.engine else by_conversation)(index, model)
    for question in options.ask or iter(lambda: input("\n> ").strip(), "/quit"):
        print(f"\n> {question}" if options.ask else "")
        for piece in answer(question):
            print(piece, end="", flush=True)
        print()


if __name__ == "__main__":
    main()
