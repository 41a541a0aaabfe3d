"""A chatbot over your own files: LangChain's models, clew's context, answers with citations.

    pip install langchain      # and what the model needs, for instance langchain-openai
    python examples/chat_langchain.py FOLDER
    python examples/chat_langchain.py FOLDER --model openai:gpt-4o-mini
    python examples/chat_langchain.py FOLDER --model ollama:qwen3 --agent

Without a model and a key, it quotes the sentences that answer. `--model` takes any model that
`init_chat_model` knows; with `--agent` the model decides when to look things up.

With `--index DIR` the files are read once. Type /context to see what the last answer was made of,
/new to start over, /quit to leave. The model writes a follow-up question in full before it is
looked up. Without a model, begin a follow-up with "+": it is looked up together with the question
before it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_clew import ClewRetriever
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool

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
REMEMBERED = 12  # messages


@dataclass
class Chat:
    """A conversation: `ask` streams an answer.

    `contexts` is what the last answer was made of, `sources` what it cites, by number, and `query`
    the question as it was looked up.
    """

    retriever: ClewRetriever
    model: BaseChatModel | None = None
    agent: bool = False
    history: list[BaseMessage] = field(default_factory=list)
    contexts: list[clew.Context] = field(default_factory=list)
    query: str = ""
    answer: str = ""

    def ask(self, question: str) -> Iterator[str]:
        """Stream the answer, piece by piece; question and answer are remembered."""
        self.contexts, self.query, self.answer = [], self.standalone(question), ""
        for piece in self._agent(question) if self.agent else self._answer(question):
            self.answer += piece
            yield piece
        self.history += [HumanMessage(question), AIMessage(self.answer)]

    @property
    def sources(self) -> dict[int, clew.Item]:
        items = (item for context in self.contexts for item in context)
        return clew.cite.citations(self.answer, items)

    def look_up(self, question: str) -> str:
        """Return the numbered passages on a question, numbered on from the last look-up."""
        numbered = clew.Render("numbered", first=1 + sum(map(len, self.contexts)))
        method = replace(clew.recipes.get(self.retriever.recipe), render=numbered)
        self.contexts.append(self.retriever.context(question, recipe=method, strict=True))
        return self.contexts[-1].text

    def standalone(self, question: str) -> str:
        """Return a follow-up question with what it refers to.

        The model writes it. Without a model, it is appended to the question before it if it begins
        with "+".
        """
        if self.model is None:
            return f"{self.query} {question[1:]}" if question.startswith("+") else question
        if not self.history or self.agent:
            return question
        messages = [*self._remembered(), HumanMessage(question), HumanMessage(STANDALONE)]
        return self.model.invoke(messages).text.strip() or question

    def _answer(self, question: str) -> Iterator[str]:
        context = self.look_up(self.query)
        if self.model is None:
            quotes = clew.cite.quotes(self.contexts[-1], index=self.retriever.index)
            yield quotes or "The files say nothing about that."
            return
        messages = [
            SystemMessage(ANSWER.format(context=context)),
            *self._remembered(),
            HumanMessage(question),
        ]
        yield from (chunk.text for chunk in self.model.stream(messages))

    def _agent(self, question: str) -> Iterator[str]:
        @tool
        def look_up(question: str) -> str:
            """Return passages of the user's files on a question, numbered to be cited."""
            try:
                return self.look_up(question)
            except ValueError as error:  # no question, or too small a budget: the model is told
                return f"Nothing was looked up: {error}"

        agent = create_agent(self.model, [look_up], system_prompt=LOOK_UP)
        messages = [*self._remembered(), HumanMessage(question)]
        for chunk, _ in agent.stream({"messages": messages}, stream_mode="messages"):
            if isinstance(chunk, AIMessage):  # a piece; or the whole, if the model does not stream
                yield chunk.text

    def _remembered(self) -> list[BaseMessage]:
        return self.history[-REMEMBERED:]


def main(arguments: Sequence[str] | None = None, model: BaseChatModel | None = None) -> None:
    parser = build_parser()
    options = parser.parse_args(arguments)
    try:
        if options.model:
            model = init_chat_model(options.model)
        check_options(options, model)
        index = load_index(options)
    except (ImportError, OSError, ValueError) as error:
        parser.error(str(error))
    try:
        retriever = ClewRetriever(index=index, recipe=options.recipe, budget=options.budget)
        converse(lambda: Chat(retriever, model, options.agent), options)
    except clew.BudgetError as error:
        parser.error(str(error))


def build_parser() -> argparse.ArgumentParser:
    numbered = [name for name in clew.recipes.names() if hasattr(clew.recipes.get(name), "render")]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("files", nargs="*", type=Path, help="text, Markdown, HTML, PDF, code, CSV ...; or folders")
    add("--index", type=Path, metavar="DIR", help="save the index there, or open the one there")
    add("--model", help="provider:name, for instance ollama:qwen3; none: quotes")
    add("--agent", action="store_true", help="let the model decide when to look things up")
    add("--recipe", default="budgeted", choices=numbered)
    add("--budget", type=int, default=1500, help="the most tokens of a context")
    add("--ask", action="append", metavar="QUESTION", help="ask this and leave; may be repeated")
    add("--show-context", action="store_true", help="print the context of every answer")
    return parser


def check_options(options: argparse.Namespace, model: BaseChatModel | None) -> None:
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
            for piece in chat.ask(question):
                print(piece, end="", flush=True)
            print("\n" if chat.sources else "")
            for number, item in chat.sources.items():
                print(f"[{number}] {location_of(item)}")
            if options.show_context:
                print_contexts(chat)


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
