"""A chatbot over your own files: LlamaIndex's models, clew's context, answers with citations.

    python examples/chat_llama_index.py FOLDER
    python examples/chat_llama_index.py FOLDER --model llama_index.llms.openai:OpenAI:gpt-4o-mini
    python examples/chat_llama_index.py FOLDER --model llama_index.llms.ollama:Ollama:qwen3 --agent

Without a model and a key, it quotes the sentences that answer. `--model` takes any LLM class, and
its model; with `--agent` the model decides when to look things up.

With `--index DIR` the files are read once. Type /context to see what the last answer was made of,
/new to start over, /quit to leave. The model writes a follow-up question in full before it is
looked up. Without a model, begin a follow-up with "+": it is looked up together with the question
before it.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
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
    "Answer in the language of the question, from the numbered passages alone. Cite behind each "
    "sentence what it rests on, as [1] or [2][5]. If the passages do not say it, say so."
    "\n\n{context}"
)
LOOK_UP = (
    "Look up what you need in the user's files and cite behind each sentence what it rests on, as "
    "[1] or [2][5]."
)
STANDALONE = (
    "Write the last question of this conversation so that it can be understood alone. Reply with "
    "the question only."
)
REMEMBERED = 4000  # tokens


@dataclass
class Chat:
    """A conversation: `ask` streams an answer.

    `contexts` is what the last answer was made of, `sources` what it cites, by number, and `query`
    the question as it was looked up.
    """

    index: clew.Index
    recipe: str = "budgeted"
    budget: int = 1500
    model: LLM | None = None
    agent: bool = False
    memory: ChatMemoryBuffer = field(
        default_factory=lambda: ChatMemoryBuffer.from_defaults(token_limit=REMEMBERED)
    )
    contexts: list[clew.Context] = field(default_factory=list)
    query: str = ""
    answer: str = ""

    async def ask(self, question: str) -> AsyncIterator[str]:
        """Stream the answer, piece by piece; question and answer are remembered."""
        self.contexts, self.query, self.answer = [], await self.standalone(question), ""
        async for piece in self._agent(question) if self.agent else self._answer(question):
            self.answer += piece
            yield piece
        self.memory.put_messages(
            [ChatMessage(question, role="user"), ChatMessage(self.answer, role="assistant")]
        )

    @property
    def sources(self) -> dict[int, clew.Item]:
        items = (item for context in self.contexts for item in context)
        return clew.cite.citations(self.answer, items)

    async def look_up(self, question: str) -> str:
        """Return passages of the user's files on a question, numbered to be cited."""
        numbered = clew.Render("numbered", first=1 + sum(map(len, self.contexts)))
        method = replace(clew.recipes.get(self.recipe), render=numbered)
        retriever = ClewRetriever(self.index, method, self.budget, strict=True)
        self.contexts.append(await retriever.acontext(question))
        return self.contexts[-1].text

    async def standalone(self, question: str) -> str:
        """Return a follow-up question with what it refers to.

        The model writes it. Without a model, it is appended to the question before it if it begins
        with "+".
        """
        if self.model is None:
            return f"{self.query} {question[1:]}" if question.startswith("+") else question
        if not self.query or self.agent:
            return question
        prompts = [ChatMessage(text, role="user") for text in (question, STANDALONE)]
        response = await self.model.achat([*self.memory.get(), *prompts])
        return (response.message.content or "").strip() or question

    async def _answer(self, question: str) -> AsyncIterator[str]:
        context = await self.look_up(self.query)
        if self.model is None:
            quotes = clew.cite.quotes(self.contexts[-1], index=self.index)
            yield quotes or "The files say nothing about that."
            return
        system = ChatMessage(ANSWER.format(context=context), role="system")
        stream = await self.model.astream_chat(
            [system, *self.memory.get(), ChatMessage(question, role="user")]
        )
        streamed = False
        async for response in stream:
            streamed = streamed or bool(response.delta)
            yield response.delta or ""
        if not streamed:  # the model answers all at once
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
        if not streamed:  # the model answers all at once
            yield answer.response.content or ""


def model_of(path: str) -> LLM:
    """Return the model that `module:Class` or `module:Class:model` names."""
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
            f"{error}; a model is given as module:Class:model, as "
            "llama_index.llms.openai:OpenAI:gpt-4o-mini"
        ) from error
    return kind(model=model) if model else kind()


def main(arguments: Sequence[str] | None = None, model: LLM | None = None) -> None:
    parser = build_parser()
    options = parser.parse_args(arguments)
    try:
        if options.model:
            model = model_of(options.model)
        check_options(options, model)
        index = load_index(options)
    except (ImportError, OSError, ValueError) as error:
        parser.error(str(error))
    try:
        settings = (index, options.recipe, options.budget, model, options.agent)
        converse(lambda: Chat(*settings), options)
    except clew.BudgetError as error:
        parser.error(str(error))


def build_parser() -> argparse.ArgumentParser:
    numbered = [name for name in clew.recipes.names() if hasattr(clew.recipes.get(name), "render")]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("files", nargs="*", type=Path, help="text, Markdown, HTML, PDF, code, CSV ...; or folders")
    add("--index", type=Path, metavar="DIR", help="save the index there, or open the one there")
    add("--model", help="module:Class:model, as in the examples of this file; none: quotes")
    add("--agent", action="store_true", help="let the model decide when to look things up")
    add("--recipe", default="budgeted", choices=numbered)
    add("--budget", type=int, default=1500, help="the most tokens of a context")
    add("--ask", action="append", metavar="QUESTION", help="ask this and leave; may be repeated")
    add("--show-context", action="store_true", help="print the context of every answer")
    return parser


def check_options(options: argparse.Namespace, model: LLM | None) -> None:
    if options.agent and model is None:
        raise ValueError("--agent needs a --model")
    if not options.files and not (options.index and options.index.exists()):
        raise ValueError("give files to read, or the --index of an earlier time")
    if options.budget < 1:
        raise ValueError("a --budget is at least 1")
    if not all(map(has_words, options.ask or ())):
        raise ValueError("a question to --ask has at least one word")


def load_index(options: argparse.Namespace) -> clew.Index:
    """Open the saved index, or read the files and save it."""
    if options.index and options.index.exists():
        return clew.Index.load(options.index)
    index = clew.Index.from_documents(
        options.files, splitter=clew.Splitter(), extractor=clew.Names(), progress=True
    )
    if options.index:
        index.save(options.index)
    return index


def converse(new_chat: Callable[[], Chat], options: argparse.Namespace) -> None:
    """Answer the questions of --ask, or those that are typed until /quit."""
    chat = new_chat()
    for question in options.ask or iter(lambda: input("\n> ").strip(), "/quit"):
        if options.ask:
            print(f"\n> {question}")
        if question == "/new":
            chat = new_chat()
        elif question == "/context":
            print_contexts(chat)
        elif has_words(question):
            asyncio.run(print_answer(chat, question))
            print("\n" if chat.sources else "")
            for number, item in chat.sources.items():
                print(f"[{number}] {location_of(item)}")
            if options.show_context:
                print_contexts(chat)


async def print_answer(chat: Chat, question: str) -> None:
    async for piece in chat.ask(question):
        print(piece, end="", flush=True)


def print_contexts(chat: Chat) -> None:
    for context in chat.contexts:
        print(f"\n{context.text}\n({context.tokens} of {context.budget} tokens)")


def has_words(question: str) -> bool:
    return bool(question.replace("+", "").strip())


if __name__ == "__main__":
    try:
        main()
    except (EOFError, KeyboardInterrupt):
        print()
