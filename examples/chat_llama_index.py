"""A chatbot over your own files: LlamaIndex's models, clew's context, answers that cite their sources.

    python examples/chat_llama_index.py FOLDER          # no model and no key: the sentences that answer, quoted
    python examples/chat_llama_index.py FOLDER --model llama_index.llms.openai:OpenAI:gpt-4o-mini      # any LLM class, and its model
    python examples/chat_llama_index.py FOLDER --model llama_index.llms.ollama:Ollama:qwen3 --agent    # it decides when to look things up

With `--index DIR` the files are read once. Say /context for what the last answer was made of, /new to start over, /quit to leave.
The model puts a follow-up question in full words before it is looked up; without one, begin a follow-up with "+", and it is looked up
together with what was asked before.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

from llama_index.core.agent.workflow import AgentInput, AgentStream, FunctionAgent, ReActAgent
from llama_index.core.llms import LLM, ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.retrievers.clew import ClewRetriever

import clew
from clew.show import location_of

ANSWER = (
    "Answer in the language of the question, from the numbered passages alone. Cite behind each sentence what it rests on, as [1] or "
    "[2][5]. If the passages do not say it, say so.\n\n{context}"
)
LOOK_UP = "Look up what you need in the user's files and cite behind each sentence what it rests on, as [1] or [2][5]."
STANDALONE = "Write the last question of this conversation so that it can be understood alone. Reply with the question only."
REMEMBERED = 4000  # tokens


@dataclass
class Chat:
    """A conversation: `ask` streams an answer; `contexts` is what it was made of, and `sources` what it cites, by number."""

    index: clew.Index
    recipe: str = "budgeted"
    budget: int = 1500
    model: LLM | None = None
    agent: bool = False
    memory: ChatMemoryBuffer = field(
        default_factory=lambda: ChatMemoryBuffer.from_defaults(token_limit=REMEMBERED)
    )
    contexts: list[clew.Context] = field(default_factory=list)
    asked: str = ""
    answer: str = ""

    async def ask(self, question: str) -> AsyncIterator[str]:
        """Stream the answer, piece by piece; question and answer are remembered."""
        self.contexts, self.asked, self.answer = [], await self.standalone(question), ""
        async for piece in self._agent(question) if self.agent else self._answer(question):
            self.answer += piece
            yield piece
        self.memory.put_messages(
            [ChatMessage(question, role="user"), ChatMessage(self.answer, role="assistant")]
        )

    @property
    def sources(self) -> dict[int, clew.Item]:
        return clew.cite.citations(
            self.answer, (item for context in self.contexts for item in context)
        )

    async def look_up(self, question: str) -> str:
        """Return passages of the user's files on a question, numbered to be cited."""
        numbered = clew.Render(
            "numbered", first=1 + sum(map(len, self.contexts))
        )  # goes on where the last look-up ended
        retriever = ClewRetriever(
            self.index, replace(clew.recipes.get(self.recipe), render=numbered), self.budget
        )
        self.contexts.append(await retriever.acontext(question))
        return self.contexts[-1].text

    async def standalone(self, question: str) -> str:
        """Return a follow-up question with what it refers to: by the model, else behind what was asked before if it begins with "+"."""
        if self.model is None:
            return f"{self.asked} {question[1:]}" if question.startswith("+") else question
        if not self.asked or self.agent:
            return question
        said = await self.model.achat(
            [
                *self.memory.get(),
                ChatMessage(question, role="user"),
                ChatMessage(STANDALONE, role="user"),
            ]
        )
        return (said.message.content or "").strip() or question

    async def _answer(self, question: str) -> AsyncIterator[str]:
        context = await self.look_up(self.asked)
        if self.model is None:
            yield (
                clew.cite.quotes(self.contexts[-1], index=self.index)
                or "The files say nothing about that."
            )
            return
        system = ChatMessage(ANSWER.format(context=context), role="system")
        stream = await self.model.astream_chat(
            [system, *self.memory.get(), ChatMessage(question, role="user")]
        )
        streamed = False
        async for response in stream:
            streamed = streamed or bool(response.delta)
            yield response.delta or ""
        if not streamed:  # a model that says all at once
            yield response.message.content or ""

    async def _agent(self, question: str) -> AsyncIterator[str]:
        kind = FunctionAgent if self.model.metadata.is_function_calling_model else ReActAgent
        agent = kind(
            tools=[FunctionTool.from_defaults(async_fn=self.look_up)],
            llm=self.model,
            system_prompt=LOOK_UP,
        )
        run = agent.run(question, chat_history=self.memory.get())
        streamed = False  # since the model was asked last
        async for event in run.stream_events():
            if isinstance(event, AgentStream):
                streamed = streamed or bool(event.delta)
                yield event.delta
            streamed = streamed and not isinstance(event, AgentInput)
        answer = await run
        if not streamed:  # a model that says all at once
            yield answer.response.content or ""


def model_of(path: str) -> LLM:
    """Return the model of `module:Class` or `module:Class:model`."""
    module, _, rest = path.partition(":")
    name, _, model = rest.partition(":")
    try:
        kind = getattr(import_module(module), name)
    except ImportError as error:
        raise ValueError(
            f"{error}: pip install {'-'.join(module.replace('_', '-').split('.')[:3])}"
        ) from error
    except AttributeError as error:
        raise ValueError(
            f"{error}; a model is given as module:Class:model, as llama_index.llms.openai:OpenAI:gpt-4o-mini"
        ) from error
    return kind(model=model) if model else kind()


def opened(options: argparse.Namespace) -> clew.Index:
    """Return the kept index, or read the files and keep it."""
    if options.index and options.index.exists():
        return clew.Index.load(options.index)
    index = clew.Index.from_documents(
        options.files, splitter=clew.Splitter(), extractor=clew.Names(), progress=True
    )
    if options.index:
        index.save(options.index)
    return index


def main(arguments: Sequence[str] | None = None, model: LLM | None = None) -> None:
    numbered = [name for name in clew.recipes.names() if hasattr(clew.recipes.get(name), "render")]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        help="files and folders: text, Markdown, HTML, PDF, code, CSV ...",
    )
    parser.add_argument(
        "--index",
        type=Path,
        metavar="DIR",
        help="keep the index there, or open the one that is there",
    )
    parser.add_argument(
        "--model",
        help="module:Class:model, for instance llama_index.llms.openai:OpenAI:gpt-4o-mini; none: quotes",
    )
    parser.add_argument(
        "--agent", action="store_true", help="let the model decide when to look things up"
    )
    parser.add_argument("--recipe", default="budgeted", choices=numbered)
    parser.add_argument("--budget", type=int, default=1500, help="the most tokens of a context")
    parser.add_argument(
        "--ask",
        action="append",
        metavar="QUESTION",
        help="ask this and leave; may be given several times",
    )
    parser.add_argument(
        "--show-context", action="store_true", help="print the context of every answer"
    )
    options = parser.parse_args(arguments)
    try:
        model = model_of(options.model) if options.model else model
    except ValueError as error:
        parser.error(str(error))
    if options.agent and model is None:
        parser.error("--agent needs a --model")
    if not options.files and not (options.index and options.index.exists()):
        parser.error("give files to read, or the --index of an earlier time")
    if options.budget < 1 or not all(map(asks, options.ask or ())):
        parser.error(
            "a --budget is at least 1"
            if options.budget < 1
            else "a question to --ask has at least one word"
        )
    try:
        index = opened(options)
    except (OSError, ValueError) as error:
        parser.error(str(error))

    texts = {document.id: document.text for document in index.documents}
    chat = Chat(index, options.recipe, options.budget, model, options.agent)
    for question in options.ask or iter(lambda: input("\n> ").strip(), "/quit"):
        if options.ask:
            print(f"\n> {question}")
        if question == "/new":
            chat = Chat(index, options.recipe, options.budget, model, options.agent)
        elif question == "/context":
            show(chat)
        elif asks(question):
            try:
                asyncio.run(told(chat, question))
            except clew.BudgetError as error:
                parser.error(str(error))
            print("\n" if chat.sources else "")
            for number, item in chat.sources.items():
                print(f"[{number}] {location_of(item, texts)}")
            if options.show_context:
                show(chat)


async def told(chat: Chat, question: str) -> None:
    async for piece in chat.ask(question):
        print(piece, end="", flush=True)


def asks(question: str) -> bool:
    return bool(question.replace("+", "").strip())


def show(chat: Chat) -> None:
    for context in chat.contexts:
        print(f"\n{context.text}\n({context.tokens} of {context.budget} tokens)")


if __name__ == "__main__":
    try:
        main()
    except (EOFError, KeyboardInterrupt):
        print()
