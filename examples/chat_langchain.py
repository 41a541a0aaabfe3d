"""A chatbot over your own files: clew looks up and cites, any model of LangChain's answers.

    pip install langchain langchain-classic  # and what the model needs, such as langchain-openai
    python examples/chat_langchain.py FOLDER
    python examples/chat_langchain.py FOLDER --model ollama:qwen3
    python examples/chat_langchain.py FOLDER --model ollama:qwen3 --chain

Without a model it quotes the sentences that answer. `--chain` asks by LangChain's own history-aware
chain, in which clew is the retriever. `clew chat FOLDER` is the same without a framework.
"""

import argparse
from collections.abc import Callable, Iterator

from langchain.chat_models import init_chat_model
from langchain_classic.chains import create_history_aware_retriever, create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_clew import ClewRetriever
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate

import clew
from clew.conversation import ANSWER, STANDALONE
from clew.show import location_of

Answer = Callable[[str], Iterator[str]]
HISTORY = [("placeholder", "{chat_history}"), ("human", "{input}")]
PASSAGE = PromptTemplate.from_template("[{clew_rank}] {page_content}")  # as answers cite it


def by_conversation(index: clew.Index, model: BaseChatModel | None) -> Answer:
    """Return what answers by clew's own conversation."""
    conversation = clew.Conversation.of(index, model=model)

    def answer(question: str) -> Iterator[str]:
        yield from conversation.ask(question)
        for number, item in conversation.turns[-1].sources.items():
            yield f"\n[{number}] {location_of(item)}"

    return answer


def by_chain(index: clew.Index, model: BaseChatModel) -> Answer:
    """Return what answers by LangChain's chain: the model writes each question in full first."""
    retriever = ClewRetriever(index=index, budget=1500, explain=True, document_prompt=PASSAGE)
    standalone = ChatPromptTemplate.from_messages([*HISTORY, ("human", STANDALONE)])
    page = ChatPromptTemplate.from_messages([("system", f"{ANSWER}\n\n{{context}}"), *HISTORY])
    chain = create_retrieval_chain(
        create_history_aware_retriever(model, retriever, standalone),
        create_stuff_documents_chain(model, page, document_prompt=PASSAGE),
    )
    history: list[BaseMessage] = []

    def answer(question: str) -> Iterator[str]:
        documents, text = [], ""
        for part in chain.stream({"input": question, "chat_history": history}):
            documents = part.get("context", documents)
            text += part.get("answer", "")
            yield part.get("answer", "")
        history.extend([HumanMessage(question), AIMessage(text)])
        for number, document in enumerate(documents, 1):
            yield f"\n[{number}] {document.id}" if f"[{number}]" in text else ""

    return answer


def main(arguments: list[str] | None = None, model: BaseChatModel | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", help="files and folders, in any format and script")
    parser.add_argument("--model", help="provider:name, such as ollama:qwen3; none: quotes")
    parser.add_argument("--chain", action="store_true", help="ask by LangChain's chain")
    parser.add_argument("--ask", action="append", metavar="QUESTION", help="ask this and leave")
    options = parser.parse_args(arguments)
    model = init_chat_model(options.model) if options.model else model
    if options.chain and model is None:
        parser.error("--chain needs a --model")
    index = clew.Index.from_documents(options.files, splitter=clew.Splitter())
    answer = (by_chain if options.chain else by_conversation)(index, model)
    for question in options.ask or iter(lambda: input("\n> ").strip(), "/quit"):
        print(f"\n> {question}" if options.ask else "")
        for piece in answer(question):
            print(piece, end="", flush=True)
        print()


if __name__ == "__main__":
    main()
