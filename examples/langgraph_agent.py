"""A graph of LangGraph: a node that retrieves, one that judges and asks again, one that answers.

    pip install langgraph

A model's part is played by two functions, so that it runs without one.
"""

import inspect
import statistics
from typing import TypedDict

from langchain_clew import ClewRetriever
from langchain_core.documents import Document
from langgraph.graph import END, START, StateGraph

documents = [
    Document(inspect.getdoc(getattr(statistics, name)) or "", id=name)
    for name in statistics.__all__
]
retriever = ClewRetriever.from_documents(documents, budget=300)


class State(TypedDict):
    """What goes from node to node."""

    question: str
    documents: list[Document]
    tries: int
    answer: str


def retrieve(state: State) -> dict[str, object]:
    """Look the question up; with more room at every try."""
    room = 300 * (state["tries"] + 1)
    found = retriever.invoke(state["question"], budget=room)
    return {"documents": found, "tries": state["tries"] + 1}


def judge(state: State) -> str:
    """Decide whether that is enough, as a model would."""
    enough = any("harmonic mean" in one.page_content for one in state["documents"])
    return "answer" if enough or state["tries"] == 3 else "retrieve"


def answer(state: State) -> dict[str, str]:
    """Quote the first document, as a model would not."""
    best = state["documents"][0]
    return {"answer": f"{best.page_content.splitlines()[0]} [{best.id}]"}


graph = StateGraph(State)
graph.add_node("retrieve", retrieve)
graph.add_node("answer", answer)
graph.add_edge(START, "retrieve")
graph.add_conditional_edges("retrieve", judge, ["retrieve", "answer"])
graph.add_edge("answer", END)
question = "Which average should I use for speeds and other rates?"
print(graph.compile().invoke({"question": question, "tries": 0})["answer"])
