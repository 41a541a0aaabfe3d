"""Every method as a named recipe.

A recipe is one entry of `RECIPES`: a method, what it does in a sentence, where that comes from and
when to choose it. To add one is to add an entry; everything else finds it here. The methods of the
entries below are made, and their stages loaded, when they are first asked for.

The first recipes are tuned on public benchmarks. Those that end in `_paper` are the published
methods with their papers' own values, as far as a graph without a language model can have them;
`DEPARTURES` says where ours differ from them, and what that brings. All differences together bring
this: recall of the gold passages within 512 tokens, without a language model, over 100 training
questions of MuSiQue (facts by a language model) and of HotpotQA (facts read by rules).

    |                       | as published | tuned               |
    |-----------------------|--------------|---------------------|
    | agrag_paper           | .40   .62    | .62   .82  agrag    |
    | hipporag2_paper       | .61   .64    | .64   .85  hipporag |
    | kurisu_paper          | .49   .62    | .56   .82  kurisu   |
    | da_rag_paper (*)      | .26   .55    | .55   .81  da_rag   |
    | sandwich_greedy_paper | .49   .71    | .60   .88  budgeted |
    | journey_paper         | .52   .72    | .62   .83  journey  |
    | dense                 | .57   .75    |                     |

(*) As published over the first 40 questions of each, as every k among all chunks took about a
second then.

The published methods were made for a language model that filters facts and writes reports, and for
contexts of several thousand tokens, in which facts take less of the room. In journey, agentic and
enterprise a central passage of the dominant community and, in the first two, the line on what could
not be joined cost about a hundredth of recall in such small contexts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from clew import methods, order, seed, select, spread
from clew.algorithms import nearest
from clew.pipeline import Pipeline
from clew.render import Render
from clew.types import DEFAULT_RECIPE, Method

SIMILAR = 0.65  # the least likeness of a name that may have been meant, from 0 to 1
DEFAULT = DEFAULT_RECIPE


@dataclass(frozen=True)
class Recipe:
    """A method under a name.

    Attributes:
        method: what is asked.
        summary: what it does, in a sentence without a full stop.
        source: the publication that it follows.
        when: when to choose it, or what a published setting leaves out.
    """

    method: Method
    summary: str
    source: str = ""
    when: str = ""

    @classmethod
    def made_by(
        cls, make: Callable[[], Method], summary: str, source: str = "", when: str = ""
    ) -> Recipe:
        """Return a recipe whose method is made when it is first asked for.

        Args:
            make: Returns the method.
            summary: As in `Recipe`.
            source: As in `Recipe`.
            when: As in `Recipe`.

        Example:
            >>> Recipe.made_by(lambda: SECTIONS, "The nearest").method is SECTIONS
            True
        """
        recipe = cls.__new__(cls)
        vars(recipe).update(_make=make, summary=summary, source=source, when=when)
        return recipe

    if not TYPE_CHECKING:  # a type checker knows the fields above, and that there are no others

        def __getattr__(self, name: str) -> object:
            """Make the method; Python asks this for what is not there yet."""
            if name != "method" or "_make" not in vars(self):
                raise AttributeError(f"a recipe has no {name!r}")
            return vars(self).setdefault("method", vars(self)["_make"]())  # one for all threads

    def __reduce__(self) -> tuple[Any, ...]:
        return Recipe, (self.method, self.summary, self.source, self.when)


@dataclass(frozen=True)
class Departure:
    """One point in which a tuned recipe differs from the paper that it follows.

    Attributes:
        published: what the paper has.
        ours: what the tuned recipe has.
        brings: what the difference brings.
    """

    published: str
    ours: str
    brings: str


AGRAG_PAPER = "AGRAG, https://arxiv.org/abs/2511.05549"
HIPPORAG2_PAPER = "HippoRAG 2, https://arxiv.org/abs/2502.14802"
KURISU_PAPER = "Kurisu-G2, ICLR 2026 submission 18441, https://openreview.net/forum?id=6CaB4gAZwc"
DA_RAG_PAPER = "DA-RAG, https://arxiv.org/abs/2602.08545"
KNOWLEDGE_WEB = "Navigating the Knowledge Web, https://codewarnab.in/blog/graph-rag-algorithms"
OUTLINE = "Graph-based context optimization for RAG, an outline"

# The edges that a graph of facts has: HippoRAG 2 and AGRAG know no others.
FACT_GRAPH = ("fact", "mentions", "synonym")
# And those between two passages that share names, heavier the rarer these are.
NAMED_LINKS = (*FACT_GRAPH, "shared")

# Walks follow links that are read in the documents, not those that likeness of vectors makes: the
# seeds have compared these vectors with the question already, and such links lead to where many
# passages are alike. Without any other link a walk stays where it starts.
VECTOR_LINKS = ("similar",)

# Nor do the presets follow what stands beside a passage, and its place in a document: `PASSAGES`
# have counted the words there, and every passage has such links, whatever the question is.
COUNTED_LINKS = (*VECTOR_LINKS, "next", "contains")

# What a descent compares with a question: passages and reports, and in a passage its sentences.
READ_WHOLE = ("passage", "report")

# Passages by words, vectors, the words of the document around them, of their neighbours and of the
# document's summary, how long their section is, and whether they say something or only link; where
# a question asks what something is, what defines it.
PASSAGES = seed.InDefinitions()

# On ordinary documents no passage that answers had a smaller share of the highest score.
NEAR_THE_BEST = select.Top(min_share=0.4, min_share_with_facts=0.0003)
NEAR_THE_BEST_SEED = select.Top(min_share=0.4, min_share_with_facts=0.4)  # no fact moves a seed

# A recipe that promises a connection says on the page where there is none.
SAYS_MISSING = Render(missing=True)


def _walk_over_names() -> spread.PageRank:
    """Return the walk from facts and passages that stays near them.

    Mass that is spread thin decides hardly any rank, and without it the walk's cost does not grow
    with the graph.
    """
    return spread.PageRank(0.7, NAMED_LINKS, tolerance=1e-4)


def _local_walk(*searches: spread.BreadthFirst | spread.BestFirst) -> spread.LocalPageRank:
    """Return the walk in the neighbourhood that these searches find.

    It restarts, less and less often, at the thirty nearest passages, so that a passage without
    links is not lost.
    """
    return spread.LocalPageRank(
        searches, damping=0.85, max_restart_rows=30, excluded_kinds=COUNTED_LINKS
    )


def _hops(n: int) -> spread.BreadthFirst:
    return spread.BreadthFirst(n, 50, excluded_kinds=COUNTED_LINKS)


def _by_promise() -> spread.BestFirst:
    return spread.BestFirst(beam=500, max_nodes=500, excluded_kinds=COUNTED_LINKS)


def _sharpened() -> spread.Power:
    """Return what sharpens seeds: the nearer one is, the likelier the walk restarts at it."""
    return spread.Power(8.0)


def _flattened() -> spread.Power:
    """Return what flattens a walk's probabilities, which fall off by powers of ten."""
    return spread.Power(0.1)


def _bridges() -> select.Bridges:
    return select.Bridges(3, max_edge=0.4, excluded_kinds=VECTOR_LINKS)


def _reports(max_reports: int) -> select.TopReports:
    """Return reports, and passages unlike each other.

    Steps to one answer are passages on one topic, which are alike: hence the floor.
    """
    diverse = select.MMR(0.5, 15, 30, similarity_floor=0.8)
    return select.TopReports(0.2, max_reports, extracts=True, rest=diverse)


# The four presets and the journey are cumulative: they share the stages above.


def _baseline() -> Pipeline:
    return Pipeline(PASSAGES, selects=(select.Top(5),), order=order.ByPrize())


def _lightweight() -> Pipeline:
    return Pipeline(
        seed.TopSeeds(5, PASSAGES),
        (_sharpened(), _local_walk(_hops(2))),
        (select.Top(15),),
        order=order.ByPrize(),
    )


def _enterprise() -> Pipeline:
    return Pipeline(
        seed.TopSeeds(5, PASSAGES),
        (_sharpened(), _local_walk(_hops(2)), _flattened()),
        (_reports(3),),
        order=order.ByPrize(),
    )


def _agentic() -> Pipeline:
    return Pipeline(
        seed.TopSeeds(5, PASSAGES),
        (_sharpened(), _local_walk(_hops(2), _by_promise()), _flattened()),
        (_bridges(), _reports(3)),
        order=order.Thread(),
        render=SAYS_MISSING,
    )


# What documentation finds the context of a section by: each passage alone. A section is a part of
# one document, whose other words say nothing of it, and facts lead out of it.
SECTIONS = Pipeline(seed.Blend(), selects=(select.Top(),), order=order.ByPrize())

RECIPES: dict[str, Recipe] = {
    "dense": Recipe.made_by(
        lambda: Pipeline(seed.Dense(), selects=(select.Top(),), order=order.ByPrize()),
        "The passages nearest to the question by cosine",
        when="as the baseline that other recipes are compared with",
    ),
    "bm25": Recipe.made_by(
        lambda: Pipeline(seed.BM25(), selects=(select.Top(),), order=order.ByPrize()),
        "The passages that hold the question's rare words",
        source="Robertson and Zaragoza 2009, https://doi.org/10.1561/1500000019",
        when="questions by names, codes and other exact words",
    ),
    "fused": Recipe.made_by(
        lambda: Pipeline(seed.Blend(), selects=(NEAR_THE_BEST_SEED,), order=order.ByPrize()),
        "The passages by both, as a weighted mean of scaled scores",
        source="Bruch et al. 2023, https://doi.org/10.1145/3596512",
        when="passages that nothing links",
    ),
    "mmr": Recipe.made_by(
        lambda: Pipeline(seed.Dense(), selects=(select.MMR(),), order=order.ByPrize()),
        "Passages near to the question, and unlike what is read already",
        source="Carbonell and Goldstein 1998, https://doi.org/10.1145/290941.291025",
        when="a corpus that repeats itself",
    ),
    "hipporag": Recipe.made_by(
        lambda: Pipeline(
            seed.RecognisedFacts(passage_seed=PASSAGES),
            (_walk_over_names(),),
            (NEAR_THE_BEST,),
            order=order.ByPrize(),
        ),
        "A walk over facts, entities and passages that restarts at the near facts that the "
        "question's names lead to, or that a language model chooses, where one is given, and at "
        "the passages like it, the words of the document around them counted, too",
        source=HIPPORAG2_PAPER,
        when="in general; without facts it is fused, and the document around each passage",
    ),
    "agrag": Recipe.made_by(
        lambda: Pipeline(
            seed.MappedFacts(recognised=True, passage_seed=PASSAGES, exponent=8.0),
            (
                spread.Influence(
                    passage_mode="reset",
                    factor=1.0,
                    kinds=(
                        *FACT_GRAPH,
                        ("shared", 0.1),
                        ("similar", 0.1),
                        ("next", 0.1),
                        ("contains", 0.1),
                        ("hyperlink", 0.1),
                    ),
                    weighted=True,
                ),
            ),
            (select.MCMI(fact_share=0.1, tree_first=False),),
            order=order.FactsFirst(),
            render=SAYS_MISSING,
        ),
        "The near facts that a language model chooses, where one is given, or else those that the "
        "question's names lead to, joined by a tree of least cost and grown by influence, then the "
        "passages by influence",
        source=AGRAG_PAPER,
        when="facts of most passages, and questions over several of them",
    ),
    "budgeted": Recipe.made_by(
        lambda: Pipeline(
            seed.RecognisedFacts(passage_seed=PASSAGES),
            (
                _walk_over_names(),
                spread.RankDiscount(1.25),
                spread.Substance(32),
            ),
            (select.Budgeted(extend_links=True),),
            order=order.Sandwich(by_heading=True),
        ),
        "The connected passages of most prize within the budget, near to the question or linked "
        "to what is, with a proven bound on any other choice",
        source=OUTLINE,
        when="a small budget that must be spent well: context.gap says how well it is",
    ),
    "kurisu": Recipe.made_by(
        lambda: Pipeline(
            seed.InDefinitions(
                seed.InPhrases(
                    seed.InProse(
                        seed.InPassages(
                            seed.InSections(
                                seed.InSummaries(
                                    seed.InDocuments(
                                        seed.Blend(
                                            (seed.Dense(READ_WHOLE), seed.BM25(kinds=READ_WHOLE))
                                        )
                                    )
                                )
                            )
                        )
                    )
                )
            ),
            selects=(methods.Descent(),),
            order=order.ByDocument(),
        ),
        "Down from the root of the corpus through documents, sections, passages and sentences to "
        "what is nearest to the question, likely siblings fused where that changes their "
        "surroundings little; then back up while there is room",
        source=KURISU_PAPER,
        when="long documents with a structure of their own and small budgets, over an index with "
        "sentences: then it reads what is nearest in many passages, and the best of these whole",
    ),
    "da_rag": Recipe.made_by(
        lambda: methods.DaRag(
            methods.CommunitySearch(cascade=True, community_boost=1.2, extra_entities=10),
            PASSAGES,
        ),
        "The community around the question among chunks that relations join, in it the "
        "communities of entities, the facts that tell of these, and the chunks; with a language "
        "model, its reports on them",
        source=DA_RAG_PAPER,
        when="dense graphs of facts, best with a language model",
    ),
    "baseline": Recipe.made_by(
        _baseline,
        "The five passages nearest to the question, by words, vectors and what stands around them",
        source=KNOWLEDGE_WEB,
        when="questions that one passage answers",
    ),
    "lightweight": Recipe.made_by(
        _lightweight,
        "The same, and what a walk finds within two links of them",
        source=KNOWLEDGE_WEB,
        when="linked passages, all of one kind",
    ),
    "enterprise": Recipe.made_by(
        _enterprise,
        "The same, with reports on whole communities, and nothing said twice",
        source=KNOWLEDGE_WEB,
        when="questions on what many documents have in common, once reports are generated",
    ),
    "agentic": Recipe.made_by(
        _agentic,
        "The same, with a search over typed edges, and the bridges between the places that the "
        "question touches, read edge by edge",
        source=KNOWLEDGE_WEB,
        when="questions on how several things are related, over edges of many types; the ends of "
        "a bridge are always read, so that of two or three passages nearly all are the nearest",
    ),
    "journey": Recipe.made_by(
        lambda: Pipeline(
            seed.TopSeeds(3, PASSAGES),
            (_sharpened(), _local_walk(_hops(1), _by_promise()), _flattened()),
            (_bridges(), _reports(1)),
            order=order.Thread(),
            render=SAYS_MISSING,
        ),
        "All of it in a row: seeds, waves, search by promise, walk, bridges, the community's "
        "report, and nothing said twice",
        source=KNOWLEDGE_WEB,
        when="to see what each of the seven algorithms adds: the trace has a step for each",
    ),
    "router": Recipe.made_by(
        lambda: methods.Router(_baseline(), _lightweight(), _enterprise(), _agentic(), PASSAGES),
        "Whichever of the four presets the graph and the question want, and why",
        source=KNOWLEDGE_WEB,
        when="questions of all sorts",
    ),
    "global": Recipe.made_by(
        lambda: Pipeline(
            seed.Blend(),
            selects=(
                select.TopReports(
                    budget_share=1.0, max_reports=None, level="fit", by="question", min_score=0.0
                ),
            ),
            order=order.ByPrize(),
        ),
        "What the reports on all parts of the corpus say, those most like the question first, from "
        "the finest level that fits the budget; then passages",
        when="questions on the whole corpus, once reports are generated",
    ),
    "agrag_paper": Recipe.made_by(
        lambda: Pipeline(
            seed.MappedFacts(5, scale_by_coverage=False, symbols=False),
            (spread.Influence(0.5, passage_mode="post", factor=0.05, kinds=FACT_GRAPH),),
            (
                select.MCMI(
                    variant="sum",
                    max_steps=20,
                    steiner_weight="cost",
                    steiner="kou",
                    chords="induced",
                    kinds=FACT_GRAPH,
                    bridge_cost=10.0,
                    max_passages=5,
                    passages_by="similarity",
                ),
            ),
            order=order.FactsFirst(),
            render=Render("triples"),
        ),
        "As published: the ends of the five nearest facts, joined by a tree of least cost over "
        "facts and grown by c / s while that is below the sum r, its facts before five passages",
        source=AGRAG_PAPER,
        when="to compare with the paper, with a language model that filters the facts; without one "
        "all five count. Not expressed: equations 1 and 4 as printed, which are no walk (see "
        "clew.spread.influence); line 12 as printed, which takes the worst neighbour (see "
        "clew.select.mcmi). Where the paper is silent, its authors' code: 20 steps, 5 passages, "
        "parts of the graph joined at cost 10",
    ),
    "hipporag2_paper": Recipe.made_by(
        lambda: Pipeline(
            seed.LinkedFacts(5, passage_weight=0.05),
            (spread.PageRank(0.5, FACT_GRAPH),),
            (select.Top(5),),
            order=order.ByPrize(),
        ),
        "As published: a walk over facts, entities and passages that restarts at the entities of "
        "the five nearest facts and, by 0.05, at every passage; the five best passages",
        source=HIPPORAG2_PAPER,
        when="to compare with the paper, with a language model that filters the facts; without one "
        "all five count. Synonyms of a cosine from 0.8 are the default of clew.link.Synonym",
    ),
    "kurisu_paper": Recipe.made_by(
        lambda: Pipeline(
            seed.Dense(kinds=("passage", "sentence")),
            selects=(
                methods.Descent(
                    ends="last",
                    max_depth=4,
                    sim_threshold=0.8,
                    threshold="literal",
                    structure="embedding",
                    fused_vector="text",
                    graft_similarity=0.8,
                    initial_strength=1.0,
                    n_loc=64,
                    reward=0.1,
                    container_similarity="mean",
                    bisect=False,
                    max_paths=1,
                    fill=False,
                    end_share=1.0,
                    sentence_window=0,
                ),
            ),
            order=order.ByDocument(),
        ),
        "As published: one path down from the root of the corpus, siblings fused and embedded "
        "as one text, children grafted, as the distance of vectors allows; read from its end, and "
        "nothing but the path",
        source=KURISU_PAPER,
        when="to compare with the paper, which prints no values but 0.2 and 0.8 for the "
        "similarity threshold; the others are what its figures and ranges suggest. Not expressed: "
        "the distance over whole graphs, which takes their size to the third power (64 nodes "
        "around the path here); uniform masses after a fusion, by which no fusion is small; the "
        "text of a document or section, which is the mean vector of its contents here. Its "
        "semantic edges are those of clew.link.Similar, which source code whose symbols are read "
        "has only where an index is made with links that hold Similar()",
    ),
    "da_rag_paper": Recipe.made_by(
        lambda: methods.DaRag(
            methods.CommunitySearch(
                max_nearest=None,
                max_k=None,
                cascade=False,
                extra_entities=0,
                k_neighbor=5,
                entity_descriptions=True,
                context_tokens=4800,
                report_tokens=3200,
                text_unit_tokens=4000,
                unused_to_chunks=False,
                other_chunks=False,
                fact_share=1.0,
                community_boost=None,
            )
        ),
        "As published: the communities around the question among all chunks, peeled node by node "
        "for every k, in those that are chosen the communities of entities, and a report on each "
        "k that fits",
        source=DA_RAG_PAPER,
        when="to compare with the paper, with a language model that scores and reports; without "
        "one the score is Stouffer's, and facts are the reports. What it compares is made when "
        "the corpus is indexed: Splitter(semantic=...), generate.Descriptions(model) of chunks, "
        "generate.Summaries(model, min_passages=1, tokens=500) of entities, and "
        "Triples(model, rounds=1). Not expressed: relations of names in more than fifty chunks "
        "(hub_cap), with which peeling 1,890 chunks takes many seconds a question. Of a graph "
        "without triangles the paper says nothing: here a connected piece, or the nearest nodes",
    ),
    "sandwich_greedy_paper": Recipe.made_by(
        lambda: Pipeline(
            seed.Dense(),
            selects=(
                select.Budgeted("greedy", q_links=5, kinds=("mentions", "shared", "hyperlink")),
            ),
            order=order.Sandwich(),
        ),
        "As published: from the question over its links, again and again the neighbour of most "
        "relevance per token that fits; the best first, the second best last",
        source=OUTLINE,
        when="to compare with the outline, which does not say to how many nodes the question is "
        "linked (five here). Not expressed: its rule that a chosen node has a chosen neighbour, "
        "which lets islands stand (see clew.select.budgeted)",
    ),
    "journey_paper": Recipe.made_by(
        lambda: Pipeline(
            seed.TopSeeds(3, seed.Dense(index=nearest.HNSW())),
            (
                spread.LocalPageRank(
                    (spread.BreadthFirst(1, 50), spread.BestFirst()),
                    damping=0.85,
                    max_start_rows=3,
                ),
            ),
            (
                select.Bridges(3, max_edge=0.4, method="kou"),
                select.TopReports(0.2, 1, by="prizes", extracts=True, rest=select.MMR(0.5, 15, 30)),
            ),
            order=order.ByPrize(),
            render=SAYS_MISSING,
        ),
        "As published: three seeds, one hop and a search by priority around them, a walk from the "
        "three, bridges, the report of the dominant community, and of thirty nodes the fifteen "
        "most diverse",
        source=KNOWLEDGE_WEB,
        when="to compare with the article, which prints no value for the longest edge of a bridge "
        "(0.4 here). The approximate index is built from 50,000 passages on (extra ann)",
    ),
}

# By published setting: in what the tuned recipe of the same source differs, and what that brings.
DEPARTURES: dict[str, tuple[Departure, ...]] = {
    "agrag_paper": (
        Departure(
            "a language model filters the nearest facts, or all count",
            "without a model, a fact counts where names in the question lead to it "
            "(recognised=True)",
            "near facts on other things do not misdirect the tree where no model is asked",
        ),
        Departure(
            "five facts, whatever they were read from",
            "fewer where only some of the nearest passages have facts (scale_by_coverage)",
            "passages without facts are not passed by",
        ),
        Departure(
            "the walk restarts at terminals, and the influence of passages is damped by 0.05",
            "it restarts at the passages like the question too, by a power of their blended score",
            "passages compete with facts, and are ranked where there are none",
        ),
        Departure(
            "facts, mentions and synonyms, all alike",
            "by their weights, and links between passages at a tenth",
            "there is something to follow where there are no facts",
        ),
        Departure(
            "r is a sum (equations 7 and 10)",
            "r is a mean",
            "Theorem 3 holds: r falls with every step, so that growth ends by itself. The sum "
            "grows and runs into the cap",
        ),
        Departure(
            "facts take what room they need",
            "facts take a tenth of the budget",
            "a passage says in less room what several of its facts do",
        ),
        Departure(
            "passages of the subgraph first, five in all",
            "the terminals, then all passages by influence, while they fit",
            "the best passage is not behind those that only join others",
        ),
        Departure(
            "Kou's trees, and an extra node at cost 10 joins the parts of the graph",
            "Mehlhorn's trees, one for each part, and the pairs are named as missing",
            "the same bound in one search, and the context says what the graph cannot join",
        ),
    ),
    "hipporag2_paper": (
        Departure(
            "a language model filters the nearest facts, or all count",
            "without a model, a fact counts where names in the question lead to it "
            "(RecognisedFacts)",
            "facts of a few passages do not outweigh the others where no model is asked",
        ),
        Departure(
            "every passage restarts the walk, by 0.05 of its scaled cosine",
            "passages have half of the restarts, the nearest by far the most of it",
            "their part does not grow with the corpus; without facts they have all of it",
        ),
        Departure(
            "passages by cosine",
            "passages by cosine and BM25",
            "names and codes are matched exactly",
        ),
        Departure(
            "a walk over facts, mentions and synonyms that follows an edge half of the time",
            "over links between passages that share names, too, seven times in ten",
            "a passage leads to the next by what both name, where no fact says so",
        ),
        Departure(
            "the walk over the whole graph",
            "mass that is spread thin is not moved on (tolerance=1e-4)",
            "the walk costs no more on a large graph than on a small one",
        ),
        Departure(
            "five passages",
            "as many as fit, but for those far below the best",
            "the budget is used for what may answer",
        ),
    ),
    "kurisu_paper": (
        Departure(
            "one path, and nothing but the path",
            "as many as have ends that fill the room, each to the best that no other has reached",
            "passages from several places are read, and the room is used",
        ),
        Departure(
            "a path goes on as far as anything leads",
            "it leaves a passage only for its sentences, or for what is no worse",
            "grafts and semantic edges do not lead from the passage that answers to a worse one",
        ),
        Departure(
            "similarity is the cosine",
            "cosine and BM25, and beside them the words of the document around and its summary",
            "names are matched exactly, and a passage counts for what its document is about",
        ),
        Departure(
            "a container is as similar as its text on average",
            "it is as similar as the best of what is left in it",
            "a long document is not passed by for its other parts",
        ),
        Departure(
            "the threshold weighs strengths on one side (line 11)",
            "on both sides, and so does the choice of the best child",
            "what was learnt decides where a path goes",
        ),
        Departure(
            "the structure is the distance of vectors (section 2.2.4)",
            "it is shortest paths over edges of such lengths",
            "a graft is seen: by vectors alone none changes anything, and all are allowed",
        ),
        Departure(
            "a fused node has the vector of its whole text",
            "it has the mean of its members' vectors",
            "nothing is embedded at question time",
        ),
        Departure(
            "edges exist with strength 1 before anything is learnt",
            "with strength 1/2",
            "gains have the same room as penalties",
        ),
        Departure(
            "a graft gains above the similarity tau that also selects children (0.8)",
            "above 0.5",
            "tau is relative to the best child there, and absolute here",
        ),
        Departure(
            "siblings from 0.8 of the best, around the path 64 nodes, at most 5 steps",
            "from 0.9, 32 nodes and 9 steps",
            "fewer and closer siblings are fused, in less time, in deeper documents",
        ),
        Departure(
            "the longest fusion, one sibling at a time",
            "by bisection, as the paper's own bound on its time has it",
            "a logarithmic number of tests; what is fused still keeps within the threshold",
        ),
        Departure(
            "a reward of 0.1 for each question",
            "of 0.03",
            "what is learnt stays near to what was built",
        ),
    ),
    "da_rag_paper": (
        Departure(
            "the community is sought among all chunks",
            "among the sixty nearest",
            "on real chunks, peeling all of them ends at hundreds, none of which may leave alone",
        ),
        Departure(
            "nodes leave one by one",
            "a node may take others with it (cascade)",
            "small and dense communities near to the question are reached",
        ),
        Departure(
            "every k that has a truss",
            "k from 3 to 8",
            "at most six communities of a layer are scored, each by a call where a model is given",
        ),
        Departure(
            "entities are compared by name and description",
            "by name",
            "nothing needs to be generated first (entity_descriptions compares summaries)",
        ),
        Departure(
            "entities of the chunks' communities alone",
            "and the ten nearest that the nearest chunks mention",
            "the entity nearest to the question is not left out",
        ),
        Departure(
            "reports take their whole room",
            "without a model, facts take a fifth of it",
            "a passage says in less room what several of its facts do",
        ),
        Departure(
            "what reports leave of a budget stays empty",
            "chunks have it (unused_to_chunks)",
            "the budget is used",
        ),
        Departure(
            "chunks of the communities, and no others",
            "others too, and those of the communities count 1.2 times",
            "a chunk outside that is much nearer is read first",
        ),
        Departure(
            "chunks are read by cosine",
            "by cosine and BM25, and the words of the document around them, as in hipporag; "
            "communities are found by cosine",
            "names are matched exactly: on ordinary folders .51 of the questions had their "
            "passage among three, .63 have it",
        ),
    ),
    "sandwich_greedy_paper": (
        Departure(
            "relevance is the cosine with the question",
            "a walk from recognised facts and passages (as in hipporag)",
            "passages that only links lead to have a prize",
        ),
        Departure(
            "prizes are scores, and are added up",
            "they are 1 / rank ** 1.25 (spread.RankDiscount), below 32 tokens a share of that",
            "a few scraps of middling score do not displace the best, whatever scores are like",
        ),
        Departure(
            "the neighbour of most relevance per token, again and again",
            "heuristics that count whole paths, then cutting planes",
            "the choice passes connectors without relevance, before which greedy stops, and comes "
            "with a bound: context.gap",
        ),
        Departure(
            "a chosen node has a chosen neighbour",
            "the choice is connected to the question",
            "no islands: the optimum of the printed rule is mostly islands",
        ),
    ),
    "journey_paper": (
        Departure(
            "the walk restarts at the three seeds",
            "at the thirty nearest passages, by the eighth power of their score",
            "a passage without links is not lost",
        ),
        Departure(
            "seeds by cosine",
            "by cosine and BM25, and the words of the document around them, as in hipporag",
            "names are matched exactly: on ordinary folders, with the next point, .49 of the "
            "questions had their passage among three, .63 have it",
        ),
        Departure(
            "all edges are followed",
            "not those between similar passages, to the next one and to the section",
            "walks do not drift to where many passages are alike, or to what only stands beside "
            "one: the seeds have counted that",
        ),
        Departure(
            "a beam of 50 and 50 nodes",
            "a beam of 500 and 500 nodes",
            "what is promising at three or four hops is reached",
        ),
        Departure(
            "diversity by the walk's probabilities and the whole cosine",
            "by their tenth root, and by what two passages have in common above the usual",
            "prizes that fall off by powers of ten do not decide alone, and passages on one topic "
            "do not displace each other",
        ),
        Departure(
            "the report of the community with the most prizes",
            "of that which is most like the question, too",
            "a community next to the question's own is not taken for it",
        ),
        Departure("best first", "along the links", "what is linked is read together"),
    ),
}


def names() -> list[str]:
    """Return the names of all recipes, the tuned ones before the published settings.

    Example:
        >>> names()[:3]
        ['dense', 'bm25', 'fused']
    """
    return list(RECIPES)


def get(recipe: str | Method) -> Method:
    """Return the method of a name; a method is returned as it is.

    Args:
        recipe: a name, in small or capital letters, or a method.

    Raises:
        ValueError: the name is unknown.
        TypeError: what came is neither a name nor a method.

    Example:
        >>> get("dense") is get("DENSE") is get(get("dense"))
        True
    """
    if not isinstance(recipe, str):
        return _checked_method(recipe)
    known = RECIPES.get(recipe) or RECIPES.get(recipe.lower()) or _in_any_letters(recipe)
    if known is None:
        from difflib import get_close_matches  # which no known name needs

        near = get_close_matches(recipe.lower(), RECIPES, 1, SIMILAR)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"unknown recipe {recipe!r}; {meant}known: {', '.join(RECIPES)}")
    if not isinstance(known, Recipe):
        raise TypeError(
            f"RECIPES has values of clew.Recipe(method, summary); under {recipe!r} there is a "
            f"{type(known).__name__}"
        )
    return known.method


def _checked_method(method: object) -> Method:
    """Return what came, where it is a method."""
    if isinstance(method, type):
        name = method.__name__
        raise TypeError(
            f"a recipe is a method with on(graph), and {name} a class: give {name}(...)"
        )
    if isinstance(method, Recipe):
        raise TypeError("a recipe is a name or a method with on(graph); of a Recipe give .method")
    if not hasattr(method, "on"):
        raise TypeError(
            f"a recipe is a name or a method with on(graph), not a {type(method).__name__}"
        )
    return cast("Method", method)


def _in_any_letters(name: str) -> Recipe | None:
    """Return the recipe of a name that was registered with capital letters."""
    folded = name.casefold()
    return next((one for known, one in RECIPES.items() if known.casefold() == folded), None)
