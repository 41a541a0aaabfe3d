"""`clew completion`: what a shell needs to complete what is typed."""

from __future__ import annotations

import argparse

from clew.cli.parser import Commands, Parser, add_command
from clew.cli.terminal import print_result

SHELLS = ("bash", "zsh", "tcsh")
EXAMPLES = """examples:
  eval "$(clew completion bash)"                        for this shell; in ~/.bashrc for every one
  clew completion zsh                                   as the file _clew in a folder of fpath
  clew completion tcsh                                  as a file that ~/.tcshrc reads"""


def add_parser(commands: Commands) -> None:
    """Declare the command and its options."""
    summary = "write what a shell needs to complete commands and options (needs the extra shell)"
    parser = add_command(commands, "completion", summary, EXAMPLES, completion)
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def completion(options: argparse.Namespace) -> int:
    """Print the script of a shell."""
    try:
        import shtab
    except ModuleNotFoundError as error:
        raise ImportError(
            "completion is written by the package shtab: install the extra, "
            "pip install 'clew[shell]'"
        ) from error
    from clew.cli import build_parser

    print_result(shtab.complete(_completed(build_parser(), shtab.FILE), options.shell).rstrip())
    return 0


def _completed(parser: Parser, file: object) -> Parser:
    """Return the parser, with the names of files completed where a path is typed."""
    below = [
        choice
        for action in parser._actions  # argparse has no other list of them
        if isinstance(action, argparse._SubParsersAction)
        for choice in action.choices.values()
    ]
    for one in (parser, *below):
        for action in one._actions:
            if "FOLDER" in str(action.metavar) or "FILE" in str(action.metavar):
                action.complete = file  # as shtab has it
    return parser
