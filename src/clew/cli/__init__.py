"""The command `clew`: ask a folder, index it, serve it, document it, and compare the recipes.

Each command is a module with `add_parser(commands)`, which declares what can be typed, and a
function of the module's name, which does it. Results go to stdout, everything else to stderr. An
error that the user can correct is one line and exit code 2.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from clew.cli.parser import Parser
from clew.cli.terminal import prepare_output, print_error, print_result
from clew.garbage import end_without_collecting
from clew.interruption import is_command
from clew.model import ModelError

__all__ = ["build_parser", "main"]

COMMANDS = (
    *("ask", "chat", "index", "cache", "check", "document", "recipes", "measure", "warm"),
    *("serve", "mcp", "completion"),
)
USER_ERRORS = (ValueError, TypeError, OSError, ImportError, ModelError)
INTERRUPTED = 130

DESCRIPTION = """From a folder of texts and a question to what a language model should read:
a connected, budgeted, ordered context, with the reason for every item.

No language model, no key and no network is needed."""

EXAMPLES = """examples:
  clew ask docs/ "How do I cancel a running job?"
  clew ask docs/ "How do I cancel a running job?" --budget 800 --explain
  clew index docs/ -o docs.clew && clew ask docs.clew "How do I cancel a running job?"
  clew chat docs/
  clew recipes

`clew COMMAND --help` says more about each command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: What was typed after `clew`; None for the arguments of this process.

    Returns:
        The exit code: 0, 1 where `ask` finds nothing or `check` an index damaged, 2 for an error
        that the user can correct, 130 after Ctrl-C. In the command itself, `clew.interruption`
        ends the process.
    """
    prepare_output()
    if is_command(sys.orig_argv):
        end_without_collecting()
    typed = sys.argv[1:] if arguments is None else arguments
    parser = build_parser(*typed[:1])
    options = parser.parse_args(arguments)
    try:
        if options.run is None:
            print_result(parser.format_help().rstrip())
            return 0
        code: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output needs no more of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except USER_ERRORS as error:
        if options.traceback:
            raise
        print_error(error)
        return 2
    return code


def build_parser(command: str | None = None) -> Parser:
    """Return the parser of the whole command line; `options.run(options)` runs what was typed.

    Args:
        command: The command that was typed, which alone is declared then: not every command loads
            what all of them need. None, or anything else that was typed, declares all.

    Example:
        >>> build_parser().parse_args(["ask", "docs/", "What is a clew?"]).question
        'What is a clew?'
    """
    parser = Parser(
        "clew",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"clew {_version()}")
    parser.set_defaults(run=None, traceback=False)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name in (command,) if command in COMMANDS else COMMANDS:
        import_module(f"clew.cli.{name}").add_parser(commands)
    return parser


def _version() -> str:
    from clew.version import __version__

    return __version__
