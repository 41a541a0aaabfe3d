"""Elasticsearch's answers to what its client asks, without a server: nodes for the real client.

It keeps what is indexed in bulk, finds neighbours exactly, filters by `term`, `terms` and `bool`, and refuses what the server refuses.
"""

from __future__ import annotations

import json
import math
from urllib.parse import urlsplit

from elastic_transport import ApiResponseMeta, BaseAsyncNode, BaseNode, HttpHeaders
from elastic_transport._node._base import NodeApiResponse


class Server:
    """What the nodes share.

    Attributes:
        documents: What was indexed, by id.
        asked: The body of each search.
        hides_vectors: Whether vectors are no part of `_source`, as from version 9.2 on.
    """

    def __init__(self, hides_vectors=False):
        self.documents, self.asked, self.hides_vectors = {}, [], hides_vectors

    def answer(self, method, target, body):
        path = urlsplit(target).path
        if path.endswith("/_bulk"):
            return 200, self.index(body)
        if path.endswith("/_search"):
            return self.search(json.loads(body))
        if method == "HEAD":
            return (200 if self.documents else 404), {}
        return 200, {"acknowledged": True}

    def index(self, body):
        lines = [json.loads(line) for line in body.splitlines() if line]
        items = []
        for action, document in zip(lines[::2], lines[1::2], strict=True):
            self.documents[action["index"]["_id"]] = document
            items.append({"index": {"_id": action["index"]["_id"], "status": 201}})
        return {"errors": False, "items": items}

    def search(self, body):
        self.asked.append(body)
        if knn := body.get("knn"):
            if knn["num_candidates"] < knn["k"]:
                return 400, {"error": "[num_candidates] cannot be less than [k]", "status": 400}
            near = self.nearest(knn)[: knn["k"]]
        else:
            near = [(id, 1.0) for id in body["query"]["ids"]["values"] if id in self.documents]
        hits = [self.hit(id, score, body) for id, score in near[: body["size"]]]
        return 200, {"hits": {"hits": hits}}

    def nearest(self, knn):
        allowed = (
            (id, document)
            for id, document in self.documents.items()
            if all(holds(clause, document) for clause in knn["filter"])
        )
        scored = [
            (id, (1 + cosine(document[knn["field"]], knn["query_vector"])) / 2)
            for id, document in allowed
        ]
        return sorted(scored, key=lambda pair: -pair[1])

    def hit(self, id, score, body):
        document, hit = self.documents[id], {"_id": id, "_score": score}
        if "fields" in body:
            hit["fields"] = {name: document[name] for name in body["fields"]}
        if body.get("_source") is not False:
            wanted = body["_source"]["includes"] if isinstance(body["_source"], dict) else document
            is_hidden = self.hides_vectors
            hit["_source"] = {
                name: value
                for name, value in document.items()
                if name in wanted and not (is_hidden and name in ("vector", "embedding"))
            }
        return hit


def holds(clause, document):
    """Return whether a document holds a clause of a filter; a text is whole in `keyword` alone."""
    ((kind, said),) = clause.items()
    if kind == "bool":
        assert set(said) <= {"must", "should"}, said
        return all(holds(one, document) for one in said.get("must", ())) and (
            "should" not in said or any(holds(one, document) for one in said["should"])
        )
    ((path, wanted),) = said.items()
    value, is_keyword = document, path.endswith(".keyword")
    for name in path.removesuffix(".keyword").split("."):
        value = value.get(name) if isinstance(value, dict) else None
    values = value if isinstance(value, list) else [value]
    if kind == "term":
        wanted = [wanted["value"]]
    assert kind in ("term", "terms"), kind
    return any(one in wanted and isinstance(one, str) == is_keyword for one in values)


def cosine(one, other):
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / (math.hypot(*one) * math.hypot(*other) or 1)


def response(server, method, target, body):
    status, answer = server.answer(method, target, body)
    headers = HttpHeaders(
        {"x-elastic-product": "Elasticsearch", "content-type": "application/json"}
    )
    meta = ApiResponseMeta(status, "1.1", headers, 0.0, None)
    return NodeApiResponse(meta, json.dumps(answer).encode())


def nodes_of(server):
    """Return the classes of a node for the client and for the async client."""

    class Node(BaseNode):
        def perform_request(self, method, target, body=None, headers=None, request_timeout=None):
            return response(server, method, target, body)

        def close(self):
            pass

    class AsyncNode(BaseAsyncNode):
        async def perform_request(
            self, method, target, body=None, headers=None, request_timeout=None
        ):
            return response(server, method, target, body)

        async def close(self):
            pass

    return Node, AsyncNode
