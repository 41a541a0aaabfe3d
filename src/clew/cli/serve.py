"""`clew serve`: ask an index in a browser, over HTTP, and from chat front ends."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from clew.cli import models
from clew.cli.databases import shown
from clew.cli.parser import Commands, add_command, non_negative_integer, positive_integer
from clew.cli.served import add_served_options, open_served, served_options
from clew.cli.source import build_index, existing_path, is_saved
from clew.cli.terminal import counted, print_remark
from clew.cli.watch import print_line
from clew.index.index import Index
from clew.index.saving import is_remote
from clew.interruption import end_at_once, is_command
from clew.serve.served_index import DEADLINE, ServedIndex, ServedOptions

HOST, PORT, MAX_PORT = "127.0.0.1", 8765, 65_535
MAX_WAITING = 64
TOKEN_VARIABLE = "CLEW_TOKEN"  # noqa: S105 - the name of a variable
PATIENCE = 0.6  # seconds that questions have when the server stops
GRACE = 1  # seconds until their connections are cut

EXAMPLES = """examples:
  clew serve docs.clew                          a page to ask: http://127.0.0.1:8765
  clew serve docs/ --names --open               a folder; the page opens in the browser
  clew serve docs.clew --writable               documents come and go on the page and over HTTP
  clew serve docs.clew --writable --folder docs/      POST /api/sync reads the folder again
  clew serve docs.clew --model langchain_openai:ChatOpenAI:gpt-4o-mini     a model answers
  clew serve s3://bucket/docs --follow 30       a replica: the newest generation of a storage
  CLEW_TOKEN=... clew serve docs.clew --host 0.0.0.0  for others, who have to bring the token

  curl http://127.0.0.1:8765/api/ask -H 'Content-Type: application/json' \\
       -d '{"question": "How do I cancel a running job?", "budget": 800}'

Chat front ends that know OpenAI's API connect to http://127.0.0.1:8765/v1; their model is `clew`,
or `clew/RECIPE`. Without a --model the answer is quotes. All routes are at /docs.

The server listens on this machine alone, unless it has a token. It speaks plain HTTP: put a proxy
with TLS before it where others ask. Whoever may ask may read all that is in the index. A change is
saved to the index that was opened; one of a folder that was read, or of an index in a database,
lasts until the server stops.
What another process saves to the index, such as `clew index docs/ -o docs.clew --watch`, is
answered from as soon as it is there; what is published to a storage, at the next look.
Ctrl-C stops it."""


def add_parser(commands: Commands) -> None:
    """Declare the command and its options."""
    summary = "ask an index in a browser and over HTTP (needs the extra serve)"
    parser = add_command(commands, "serve", summary, EXAMPLES, serve)
    parser.add_argument(
        "--host",
        default=HOST,
        help=f"where to listen (default: {HOST}, this machine alone; others need a token)",
    )
    parser.add_argument(
        "--port",
        type=port_number,
        default=PORT,
        metavar="N",
        help=f"the port; 0 for any that is free (default: {PORT})",
    )
    parser.add_argument(
        "--token",
        metavar="T",
        help=f"what every request has to bring (default: the environment's {TOKEN_VARIABLE}, "
        "which other users of the machine do not see)",
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="URL",
        help="a page elsewhere that may ask, such as https://chat.example.org; may come again",
    )
    parser.add_argument(
        "--writable",
        action="store_true",
        help="documents may come and go, on the page and over HTTP",
    )
    parser.add_argument(
        "--folder",
        metavar="FOLDER",
        help="what POST /api/sync reads again where a saved index is served (default: what is "
        "served, if it is a folder)",
    )
    models.add_model_options(
        parser, "the language model that answers; without one the answer is quotes"
    )
    parser.add_argument(
        "--workers",
        type=positive_integer,
        metavar="N",
        help="how many questions are looked up at once (default: one for each core)",
    )
    parser.add_argument(
        "--queue",
        type=non_negative_integer,
        default=MAX_WAITING,
        metavar="N",
        help="how many more may wait; what comes beyond is refused at once "
        f"(default: {MAX_WAITING})",
    )
    parser.add_argument(
        "--deadline",
        type=positive_integer,
        default=int(DEADLINE),
        metavar="SECONDS",
        help="how long a question may wait and be looked up, after which the best so far comes "
        f"(default: {DEADLINE:g})",
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    add_served_options(parser)


def port_number(text: str) -> int:
    """Return the number of a port, or 0.

    Example:
        >>> port_number("8765")
        8765
    """
    if not text.isdecimal() or int(text) > MAX_PORT:
        raise argparse.ArgumentTypeError(
            f"a whole number from 0 to {MAX_PORT} is wanted, not {text!r}"
        )
    return int(text)


def serve(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C; what is wrong with the options is an error before anything is read."""
    run, rules_of = _server()
    typed = options.token  # an empty one, as of a variable that is not set, is an error
    token = (os.environ.get(TOKEN_VARIABLE) or None) if typed is None else typed
    rules = rules_of(options.host, token, tuple(options.allow_origin))
    how = _with_changes(served_options(options), options)
    with _listening(options.host, options.port) as listener:
        served = open_served(options, how)
        host, port = listener.getsockname()[:2]
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{port}"
        count = counted(len(served.index), "document")
        print_line(f"serving {shown(options.source)} ({count}) at {address}")
        if options.writable and is_remote(options.source):
            print_remark("no change is written to the database: it lasts until the server stops")
        print_remark("Ctrl-C stops it" + ("" if token is None else "; the page asks for the token"))
        if options.open:
            webbrowser.open(address)
        with _signals_are_no_end():
            run(served, rules, listener, options)
    print_remark("stopped")
    if is_command(sys.orig_argv):
        end_at_once(0)  # questions that were given up go on in threads, and the memory is large
    return 0


def _server() -> tuple[Callable[..., None], Callable[..., object]]:
    """Return what runs a server and what makes its rules, which need the extra `serve`."""
    import asyncio

    try:
        import uvicorn

        from clew.serve.access import AccessRules
        from clew.serve.app import create_app
        from clew.serve.service import Service
    except ImportError as error:
        raise ImportError(
            f"there is no module {error.name!r}, which `clew serve` needs: install the extra, "
            "pip install 'clew[serve]'"
        ) from error

    class Server(uvicorn.Server):
        """Gives up what is waited for while there is time to say so."""

        def __init__(self, config: uvicorn.Config, service: Service) -> None:
            super().__init__(config)
            self.service = service

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            """Stop."""
            asyncio.get_running_loop().call_later(PATIENCE, self.service.give_up)
            await super().shutdown(sockets)

    def run(
        served: ServedIndex,
        rules: AccessRules,
        listener: socket.socket,
        options: argparse.Namespace,
    ) -> None:
        service = Service.of(served, options.workers, options.queue)
        config = uvicorn.Config(
            create_app(service, rules),
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=GRACE,
        )
        Server(config, service).run(sockets=[listener])

    return run, AccessRules


def _with_changes(how: ServedOptions, options: argparse.Namespace) -> ServedOptions:
    """Return how questions are asked, and how what is served may change."""
    is_index = is_saved(options.source)
    if options.folder is not None and not is_index:
        raise ValueError(
            f"--folder is what a saved index is made of; {options.source} is no saved index, and "
            "POST /api/sync reads it again by itself"
        )
    folder = None if options.folder is None else existing_path(options.folder)

    def read_folder(before: Index) -> Index:
        return before.sync(folder) if is_index else build_index(options, before=before)

    return replace(
        how,
        deadline=float(options.deadline),
        model=models.typed_model(options),
        writable=options.writable,
        read_again=None if is_index and folder is None else read_folder,
    )


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """Listen, before anything is read: a port that is taken is an error at once.

    Raises:
        ValueError: The host or the port cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise ValueError(
            f"cannot listen on {host}, port {port}: {error}; choose another with --port"
        ) from error
    with listener:
        yield listener


@contextmanager
def _signals_are_no_end() -> Iterator[None]:
    """Leave SIGINT and SIGTERM to the server, which raises them once more when it has stopped."""
    before = {one: signal.signal(one, lambda *_: None) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
