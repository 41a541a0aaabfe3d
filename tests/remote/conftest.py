"""A real PostgreSQL for the tests, from a package, on a Unix socket in a folder of its own."""

from __future__ import annotations

import itertools
import os
import signal
import tempfile
import time
import warnings
from pathlib import Path

import pytest

NAMES = itertools.count()


class Server:
    """A server that is started, killed, and started again."""

    def __init__(self, folder):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where there is no XDG_RUNTIME_DIR
            import pgserver

        self._control = pgserver.pg_ctl
        self.folder, self.server = folder, pgserver.get_server(folder, cleanup_mode="delete")

    def address(self, name=None, **others):
        name = f"index{next(NAMES)}" if name is None else name
        query = "".join(f"&{key}={value}" for key, value in others.items())
        return f"postgresql://postgres@/postgres?host={self.folder}&index={name}{query}"

    @property
    def database(self):
        return f"postgresql://postgres@/postgres?host={self.folder}"

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


@pytest.fixture(scope="session")
def server():
    folder = tempfile.mkdtemp(prefix="clew-pg-")
    started = Server(folder)
    yield started
    started.server.cleanup()
