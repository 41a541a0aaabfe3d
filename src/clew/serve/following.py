"""A served index follows what other processes save in its folder."""

from __future__ import annotations

import logging
import threading

from clew.serve.served_index import ServedIndex

INTERVAL = 1.0  # seconds between two looks at the newest manifest
LOGGER = logging.getLogger("clew.serve")


class Follower(threading.Thread):
    """Looks at the folder of a saved index, and has the newest generation answer.

    A look lists the folder. What cannot be opened is logged once, and looked at again.

    Args:
        served: The index.
        interval: Seconds between two looks.

    Example:
        >>> from clew import Index
        >>> Follower(ServedIndex(Index.from_documents(["The sea."]))).daemon
        True
    """

    def __init__(self, served: ServedIndex, interval: float = INTERVAL) -> None:
        super().__init__(name="clew-follower", daemon=True)
        self.served, self.interval = served, interval
        self._ended = threading.Event()
        self._complaint = ""

    def run(self) -> None:
        """Look until it is stopped."""
        while not self._ended.wait(self.interval):
            self.look()

    def look(self) -> None:
        """Look once."""
        try:
            if self.served.follow():
                index, folder = self.served.index, self.served.options.saved_to
                LOGGER.info(
                    "%s was saved by another process: answers come from its %s documents now",
                    folder,
                    f"{len(index):,}",
                )
            self._complaint = ""
        except Exception as error:  # noqa: BLE001  # the index before goes on answering
            if str(error) != self._complaint:
                LOGGER.warning(
                    "%s was saved by another process, and cannot be opened: %s; answers come from "
                    "what was there before",
                    self.served.options.saved_to,
                    error,
                )
            self._complaint = str(error)

    def stop(self) -> None:
        """End it after the look that is under way."""
        self._ended.set()
