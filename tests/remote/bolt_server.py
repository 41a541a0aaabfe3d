"""A server of ArcadeDB, which speaks Bolt as Neo4j does, in a process of its own.

    python bolt_server.py FOLDER PORT PORT_FOR_HTTP PASSWORD

It says "ready" and runs until it is killed.
"""

import sys
import threading
from contextlib import suppress

import arcadedb_embedded

DATABASE = "clew"

if __name__ == "__main__":
    folder, port, http_port, password = sys.argv[1:]
    server = arcadedb_embedded.create_server(
        root_path=folder,
        root_password=password,
        config={
            "host": "127.0.0.1",
            "http_port": int(http_port),
            "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "bolt_host": "127.0.0.1",
            "bolt_port": int(port),
        },
    )
    server.start()
    with suppress(arcadedb_embedded.ArcadeDBError):  # it is there after a restart
        server.create_database(DATABASE)
    print("ready", flush=True)
    threading.Event().wait()
