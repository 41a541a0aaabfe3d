"""A chatbot over your own files: LangChain's models, clew's context, answers that cite their sources.

    pip install langchain                                                       # and what the model needs, for instance langchain-openai
    python examples/chat_langchain.py FOLDER                                    # no model and no key: the sentences that answer, quoted
    python examples/chat_langchain.py FOLDER --model openai:gpt-4o-mini         # any model that init_chat_model knows
    python examples/chat_langchain.py FOLDER --model ollama:qwen3 --agent       # the model decides when to look things up

With `--index DIR` the files are read once. Say /context for what the last answer was made of, /new to start over, /quit to leave.
The model puts a follow-up question in full words before it is looked up; without one, begin a follow-up with "+", and it is looked up
together with what was asked before.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
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
    "Answer in the language of the question, from the numbered passages alone. Cite behind each sentence what it rests on, as [1] or "
    "[2][5]. If the passages do not say it, say so.\n\n{context}"
)
LOOK_UP = "Look up what you need in the user's files and cite behind each sentence what it rests on, as [1] or [2][5]."
STANDALONE = "Write the last question of this conversation so that it can be understood alone. Reply with the question only."
REMEMBERED = 12  # messages


@dataclass
class Chat:
    """A conversation: `ask` streams an answer; `contexts` is what it was made of, and `sources` what it cites, by number."""

    retriever: ClewRetriever
    model: BaseChatModel | None = None
    agent: bool = False
    history: list[BaseMessage] = field(default_factory=list)
    contexts: list[clew.Context] = field(default_factory=list)
    asked: str = ""
    answer: str = ""

    def ask(self, question: str) -> Iterator[str]:
        """Stream the answer, piece by piece; question and answer are remembered."""
        self.contexts, self.asked, self.answer = [], self.standalone(question), ""
        for piece in self._agent(question) if self.agent else self._answer(question):
            self.answer += piece
            yield piece
        self.history += [HumanMessage(question), AIMessage(self.answer)]

    @property
    def sources(self) -> dict[int, clew.Item]:
        return clew.cite.citations(
            self.answer, (item for context in self.contexts for item in context)
        )

    def look_up(self, question: str) -> str:
        """Return the numbered passages on a question; numbers go on where those of the last look-up ended."""
        numbered = clew.Render("numbered", first=1 + sum(map(len, self.contexts)))
        method = replace(clew.recipes.get(self.retriever.recipe), render=numbered)
        self.contexts.append(self.retriever.context(question, recipe=method))
        return self.contexts[-1].text

    def standalone(self, question: str) -> str:
        """Return a follow-up question with what it refers to: by the model, else behind what was asked before if it begins with "+"."""
        if self.model is None:
            return f"{self.asked} {question[1:]}" if question.startswith("+") else question
        if not self.history or self.agent:
            return question
        return (
            self.model.invoke(
                [*self._remembered(), HumanMessage(question), HumanMessage(STANDALONE)]
            ).text.strip()
            or question
        )

    def _answer(self, question: str) -> Iterator[str]:
        context = self.look_up(self.asked)
        if self.model is None:
            yield (
                clew.cite.quotes(self.contexts[-1], index=self.retriever.index)
                or "The files say nothing about that."
            )
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
            """Passages of the user's files on a question, numbered to be cited."""
            try:
                return self.look_up(question)
            except (
                ValueError
            ) as error:  # no question, or a budget that holds nothing: the model hears it
                return f"Nothing was looked up: {error}"

        agent = create_agent(self.model, [look_up], system_prompt=LOOK_UP)
        messages = [*self._remembered(), HumanMessage(question)]
        for chunk, _ in agent.stream({"messages": messages}, stream_mode="messages"):
            if isinstance(
                chunk, AIMessage
            ):  # its pieces, or the whole where the model does not stream
                yield chunk.text

    def _remembered(self) -> list[BaseMessage]:
        return self.history[-REMEMBERED:]


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


def main(arguments: Sequence[str] | None = None, model: BaseChatModel | None = None) -> None:
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
        help="provider:name, for instance openai:gpt-4o-mini or ollama:qwen3; none: quotes",
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
        model = init_chat_model(options.model) if options.model else model
    except (ImportError, ValueError) as error:
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
    retriever = ClewRetriever(index=index, recipe=options.recipe, budget=options.budget)
    chat = Chat(retriever, model, options.agent)
    for question in options.ask or iter(lambda: input("\n> ").strip(), "/quit"):
        if options.ask:
            print(f"\n> {question}")
        if question == "/new":
            chat = Chat(retriever, model, options.agent)
        elif question == "/context":
            show(chat)
        elif asks(question):
            try:
                for piece in chat.ask(question):
                    print(piece, end="", flush=True)
            except clew.BudgetError as error:
                parser.error(str(error))
            print("\n" if chat.sources else "")
            for number, item in chat.sources.items():
                print(f"[{number}] {location_of(item, texts)}")
            if options.show_context:
                show(chat)


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
