"""clew as the retriever of a LangChain chain.

A fake model repeats its prompt instead of an answer.
"""

import inspect
import statistics

from langchain_clew import ClewRetriever
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import ParrotFakeChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

documents = [
    Document(
        id=name,
        page_content=inspect.getdoc(getattr(statistics, name)) or "",
        metadata={"title": f"statistics.{name}"},
    )
    for name in statistics.__all__
]
# Without `embeddings`, clew fits its own to the documents.
retriever = ClewRetriever.from_documents(documents, budget=600, explain=True)


def numbered_page(documents: list[Document]) -> str:
    return "\n\n".join(
        f"[{document.metadata['clew_rank']}] {document.page_content}" for document in documents
    )


prompt = ChatPromptTemplate.from_template(
    "Answer from this alone, and cite the numbers.\n\n{context}\n\nQuestion: {question}"
)
chain = (
    {"context": retriever | numbered_page, "question": RunnablePassthrough()}
    | prompt
    | ParrotFakeChatModel()
    | StrOutputParser()
)

question = "Which average should I use for speeds and other rates?"
print(chain.invoke(question))

print("\nOther options for one question alone: k=2")
for document in retriever.invoke(question, k=2):
    print(f"  {document.id}: {document.metadata['clew_why']}")
