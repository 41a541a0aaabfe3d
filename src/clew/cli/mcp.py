"""`clew mcp`: give an index to an assistant, by the Model Context Protocol."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from clew.cli.databases import shown
from clew.cli.parser import Commands, add_command
from clew.cli.served import add_served_options, open_served, served_options
from clew.cli.terminal import counted, print_remark
from clew.serve.served_index import ServedIndex

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
    add_served_options(parser)


def mcp(options: argparse.Namespace) -> int:
    """Serve the assistant until it closes stdin."""
    create = _create()
    served = open_served(options, served_options(options))
    count = counted(len(served.index), "document")
    print_remark(f"serving {shown(options.source)} ({count}) over stdin and stdout")
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
