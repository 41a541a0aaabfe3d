"""`clew mcp`: give an index to an assistant, by the Model Context Protocol."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from clew import recipes
from clew.cli.parser import Commands, add_command, positive_integer
from clew.cli.settings import add_settings_option, label_of, method_of
from clew.cli.source import add_reading_options, existing_path, open_source
from clew.cli.terminal import print_remark
from clew.serve.served_index import ServedIndex, ServedOptions
from clew.store import is_index

BUDGET = 2000  # tokens, unless the user says otherwise
EXAMPLES = """examples:
  clew mcp docs.clew
  clew mcp ~/notes --names

The assistant starts this command itself and talks with it over stdin and stdout:

  Claude Code        claude mcp add notes -- clew mcp ~/notes
  Claude Desktop     "mcpServers": {"notes": {"command": "clew", "args": ["mcp", "/home/me/notes"]}}
  VS Code            code --add-mcp '{"name": "notes", "command": "clew", "args": ["mcp", "..."]}'

It offers three tools: `ask` (the passages that answer, with their sources), `open_source` (what
stands around a passage) and `neighbours` (what a passage or a name is linked to); and the documents
as resources. It only reads."""


def add_parser(commands: Commands) -> None:
    """Declare the command and its options."""
    summary = "give a folder, a file or an index to an assistant (needs the extra mcp)"
    parser = add_command(commands, "mcp", summary, EXAMPLES, mcp)
    parser.add_argument(
        "source",
        metavar="FOLDER|FILE|INDEX",
        help="what to read; an index is a folder made by `clew index`",
    )
    parser.add_argument(
        "--recipe",
        default=recipes.DEFAULT,
        metavar="NAME|FILE.toml",
        help=f"the method where a question names none (default: {recipes.DEFAULT})",
    )
    add_settings_option(parser)
    parser.add_argument(
        "--budget",
        type=positive_integer,
        default=BUDGET,
        metavar="N",
        help=f"tokens of an answer where the assistant says nothing else (default: {BUDGET})",
    )
    add_reading_options(parser)
    parser.add_argument(
        "--no-cache",
        action="store_true",
        help="read the folder anew and keep nothing of it; see `clew cache`",
    )


def mcp(options: argparse.Namespace) -> int:
    """Serve the assistant until it closes stdin."""
    create = _create()
    served_options = ServedOptions(
        recipe=label_of(options.recipe, options.set),
        method=method_of(options.recipe, options.set),
        budget=options.budget,
    )
    if not is_index(existing_path(options.source)):
        options.untrusted = True  # whoever wrote the documents speaks to the assistant
    served = ServedIndex(open_source(options), served_options)
    served.prepare()
    print_remark(
        f"serving {options.source} ({len(served.index):,} documents) over stdin and stdout"
    )
    create(served).run()
    return 0


def _create() -> Callable[[ServedIndex], Any]:
    """Return what makes the server, which needs the extra `mcp`."""
    try:
        from clew.serve.mcp_server import create_mcp_server
    except ModuleNotFoundError as error:
        raise ImportError(
            f"there is no module {error.name!r}, which `clew mcp` needs: install the extra, "
            "pip install 'clew[mcp]'"
        ) from error
    return create_mcp_server
