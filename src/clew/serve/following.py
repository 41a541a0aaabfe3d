"""A served index follows what others save in its folder, or publish to its storage."""

from __future__ import annotations

import logging
import threading

from clew.serve.served_index import ServedIndex

INTERVAL = 1.0  # seconds between two looks at the newest manifest of a folder
STORAGE_INTERVAL = 10.0  # of a storage, where each look is two requests that are paid for
LOGGER = logging.getLogger("clew.serve")


class Follower(threading.Thread):
    """Looks where an index is saved, and has the newest generation answer.

    A look lists the folder. What cannot be opened, or reached, is logged once, and looked at again.

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
                LOGGER.info(
                    "%s was saved by another process: answers come from its %s documents now",
                    self.served.shown_place,
                    f"{len(self.served.index):,}",
                )
            self._complaint = ""
        except Exception as error:  # noqa: BLE001  # the index before goes on answering
            if str(error) != self._complaint:
                reason = (
                    "was saved by another process, and cannot be opened"
                    if isinstance(error, ValueError)
                    else "cannot be looked at"
                )
                LOGGER.warning(
                    "%s %s: %s; answers come from what was there before",
                    self.served.shown_place,
                    reason,
                    error,
                )
            self._complaint = str(error)

    def stop(self) -> None:
        """End it after the look that is under way."""
        self._ended.set()
