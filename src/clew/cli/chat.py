"""`clew chat`: questions that build on each other, answers that cite."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext, suppress

from clew.cli import models
from clew.cli.links import print_with_links
from clew.cli.parser import Commands, add_command, question
from clew.cli.question_options import (
    add_question_options,
    add_source,
    chosen_method,
    question_parameters,
)
from clew.cli.report import explanation, nothing_in_words, print_answer
from clew.cli.source import STDIN, add_reading_options, one_or_several, open_source
from clew.cli.terminal import print_remark, print_result
from clew.conversation import BUDGET, NOTHING, Conversation, bare_question
from clew.interruption import interruptible
from clew.model import ModelError

EXAMPLES = """examples:
  clew chat docs/                                     no model: it quotes the sentences that answer
  clew chat docs/ --model http://localhost:11434/v1#qwen3
  clew chat docs/ --model langchain_openai:ChatOpenAI:gpt-4o-mini --names
  clew chat docs/ --ask "Who is the coxswain?" --ask "Where does he live?"

A question may refer to the one before it ("Where does she live?"): a model writes it in full;
without one the names of the last answer are looked up with it, or, for "it" and where it says
little by itself ("And in winter?", "Why?"), the question before it; and what was looked up is
shown. Begin with + to look a question up together with the one before it, with = to take it as it
stands.

While you chat: /why, /context and /sources show what the last answer was made of, /new forgets the
conversation, /help lists this, /quit or Ctrl-D leaves. Ctrl-C ends an answer that is being written,
and, at the prompt, the chat."""

QUIT = "/quit"
COMMANDS = {
    "/why": "why every passage was read, and what was left out",
    "/context": "the text that the answer was made of",
    "/sources": "all passages that were read, not the cited alone",
    "/new": "forget the conversation",
    "/help": "this list",
    QUIT: "leave",
}
NONE_YET = "there is no answer yet"
MAX_LOOKED_UP = 300  # characters of what was looked up that are shown


def add_parser(commands: Commands) -> None:
    """Declare the command and its options."""
    summary = "talk with a folder, a file or an index"
    parser = add_command(commands, "chat", summary, EXAMPLES, chat)
    add_source(parser, "FOLDER|FILE|INDEX", several=True)
    parser.add_argument(
        "--ask",
        action="append",
        type=question,
        default=[],
        metavar="QUESTION",
        help="ask this and leave; may come several times",
    )
    models.add_model_options(parser, "the language model that answers (default: none, quotes)")
    add_question_options(parser, BUDGET)
    add_reading_options(parser, cached=True)


def chat(options: argparse.Namespace) -> int:
    """Answer the questions of `--ask`, or those that are typed until /quit.

    The exit code is 2 where a question of `--ask` or of a pipe could not be answered, since the
    model failed or it is too long: no one is there to read it.
    """
    options.source = one_or_several(options.source)
    if options.source == STDIN and not options.ask:
        raise ValueError("stdin is what is read: ask by --ask, since no question comes from there")
    method, parameters = chosen_method(options), question_parameters(options)
    model = models.typed_model(options)
    index = open_source(options)
    conversation = Conversation.of(index, recipe=method, model=model, **parameters)
    failed, is_read = False, not options.ask and sys.stdin is not None and sys.stdin.isatty()
    for text in options.ask or _typed():
        if options.ask:
            print_result(f"> {text}")
        if text == QUIT:
            break
        if text in COMMANDS:
            _carry_out(text, conversation)
        elif text.startswith("/"):
            print_remark(f"{text} is no command; {', '.join(COMMANDS)} are")
        else:
            failed |= not _answer(text, conversation, is_read=is_read)
    return 2 if failed and not is_read else 0


def _typed() -> Iterator[str]:
    """Yield what is typed, until /quit or the end of the input."""
    if sys.stdin is None:  # closed, as behind `<&-`
        return
    with suppress(ImportError):  # as on Windows
        import readline  # noqa: F401  # arrow keys and history, where there is a terminal
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        print_remark("ask, or type /help; Ctrl-D leaves")
    while True:
        try:
            text = input("> " if is_terminal else "").strip()
        except EOFError:
            return
        if text == QUIT:
            return
        if bare_question(text):
            yield text


def _answer(question: str, conversation: Conversation, *, is_read: bool) -> bool:
    """Print the answer as it is written, and what it cites; return whether there is one.

    Args:
        question: What was typed.
        conversation: What it belongs to.
        is_read: Whether somebody reads along, whose Ctrl-C ends the answer and not the chat.
    """
    try:
        with interruptible() if is_read else nullcontext():
            print_answer(question, conversation)
    except KeyboardInterrupt:
        if not is_read:
            raise
        print_remark("the answer was given up, and is forgotten; Ctrl-C at the prompt leaves")
        return False
    except (ModelError, ValueError) as error:  # the model failed, or the question is too long
        print_remark(str(error))
        return False  # the conversation goes on
    turn = conversation.turns[-1]
    if not turn.asked:
        print_remark(f"begin with = to look it up: = {bare_question(question)}")
    elif turn.asked != bare_question(question):
        rest = "…" if len(turn.asked) > MAX_LOOKED_UP else ""
        print_remark(f"looked up: {turn.asked[:MAX_LOOKED_UP]}{rest}")
    if turn.context.nothing_found:
        print_remark(nothing_in_words(turn.context, conversation.index))
    elif turn.answer == NOTHING and turn.context.items:
        print_remark("/context shows what comes nearest")
    print_result()
    return True


def _carry_out(command: str, conversation: Conversation) -> None:
    """Do what a command says."""
    if command == "/help":
        for name, what in COMMANDS.items():
            print_result(f"{name:<9} {what}")
        return
    if command == "/new":
        conversation.turns.clear()
        return
    asked = [turn for turn in conversation.turns if turn.asked]
    if not asked:
        print_remark(NONE_YET)
        return
    context = asked[-1].context
    if command == "/why":
        print_result(explanation(context))
    elif command == "/context":
        budget = "" if context.budget is None else f" of {context.budget:,}"
        print_result(f"{context.text}\n({context.tokens:,}{budget} tokens)")
    else:
        for number, item in enumerate(context, 1):
            print_with_links(f"[{number}] ", item)
