"""A sub-retriever of a property graph: chunks within a budget, by the triplets in them."""

from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import ChunkNode, EntityNode, Relation
from llama_index.core.indices.property_graph import PGRetriever
from llama_index.retrievers.clew import ClewPGRetriever

chunks = {
    "alcyone": "MV Alcyone is a ferry to the islands. Its captain is Ada Brandt.",
    "borealis": "MV Borealis is a ferry to the islands. Its captain is Emil Voss.",
    "ada": "Ada Brandt grew up in Tromsø and learnt to sail from her aunt.",
    "emil": "Emil Voss grew up in Bergen and repairs engines.",
}
triplets = [
    ("alcyone", "MV Alcyone", "has the captain", "Ada Brandt"),
    ("borealis", "MV Borealis", "has the captain", "Emil Voss"),
    ("ada", "Ada Brandt", "grew up in", "Tromsø"),
    ("emil", "Emil Voss", "grew up in", "Bergen"),
]
store = SimplePropertyGraphStore()
store.upsert_nodes([ChunkNode(id_=id, text=text) for id, text in chunks.items()])
for chunk, subject, relation, object in triplets:
    read_in = {"triplet_source_id": chunk}
    ends = [EntityNode(name=name, properties=read_in) for name in (subject, object)]
    store.upsert_nodes(ends)
    store.upsert_relations(
        [Relation(label=relation, source_id=subject, target_id=object, properties=read_in)]
    )

sub_retriever = ClewPGRetriever(store, budget=60)
retriever = PGRetriever([sub_retriever], use_async=False)
for found in retriever.retrieve("Where did the captain of MV Alcyone grow up?"):
    print(f"{found.node.text}\n    {found.node.metadata['clew_why']}")
