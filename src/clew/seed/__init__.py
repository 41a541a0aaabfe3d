"""Where does the question touch the graph?  question -> seeds"""

from clew.seed.best import Best
from clew.seed.bm25 import BM25
from clew.seed.dense import Dense
from clew.seed.facts import LinkedFacts
from clew.seed.fused import Blend, ReciprocalRank
from clew.seed.mapped import MappedFacts
from clew.seed.recognised import RecognisedFacts

__all__ = ["BM25", "Best", "Blend", "Dense", "LinkedFacts", "MappedFacts", "ReciprocalRank", "RecognisedFacts"]
