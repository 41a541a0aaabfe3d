"""The sentence of each item that matches the question, by the words they share."""

from __future__ import annotations

from clew.show.drawable import Drawable
from clew.text.asking import covers_of_answers, is_question
from clew.text.question_words import covered_words, weigh_by_covers, words_by_stem
from clew.text.quotable import quotable
from clew.text.spans import Span

MIN_SHARE = 1 / 3  # of what the best sentence of all has: a sentence that shares "the" is no match


def matching_spans(context: Drawable) -> dict[int, Span]:
    """Return where the sentence that matches the question best stands in the text of each item.

    Sentences are found, and the words of the question weighed, as `clew.cite.quotes` does; a row of
    a table counts as a sentence. A question says there what those behind it are about, and matches
    itself only where nothing else does. Facts have none: they are one statement.

    Args:
        context: The items and the question.

    Returns:
        Start and end by the number of the item, from 1. An item is left out where its best sentence
        has less than a third of what the best of all sentences has.

    Example:
        >>> from clew.context import Context
        >>> from clew.items import Item
        >>> item = Item("ben", "It rains. Ben lives on Corfu.", 1.0, "seed", "passage", 8)
        >>> matching_spans(Context((item,), item.text, 8, None, "Where does Ben live?", "dense"))
        {1: (10, 29)}
    """
    by_stem = words_by_stem(context.question)
    pieces = [
        (rank, piece)
        for rank, item in enumerate(context, 1)
        if item.role != "fact"
        for piece in quotable(item.text, item.metadata, item.heading)
    ]
    covers = [covered_words(piece.text, by_stem) for _, piece in pieces]
    question = weigh_by_covers(by_stem, covers)
    asking = [(rank, is_question(piece, context.question)) for rank, piece in pieces]
    for own, whole in (covers_of_answers(asking, covers), (covers, covers)):
        best: dict[int, tuple[float, float, Span]] = {}
        for (rank, piece), words, all_words in zip(pieces, own, whole, strict=True):
            weight, alone = question.weight_of(all_words), question.weight_of(words)
            if (weight, alone) > best.get(rank, (0.0, 0.0))[:2]:
                best[rank] = (weight, alone, (piece.start, piece.end))
        most = max((weight for weight, _, _ in best.values()), default=0.0)
        if most:
            break
    return {rank: span for rank, (weight, _, span) in best.items() if weight >= MIN_SHARE * most}
