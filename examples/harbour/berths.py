"""Berths of the harbour and what they cost."""

from dataclasses import dataclass

PER_METRE = 1.5  # crowns a night
WINTER = range(11, 13)  # the months in which half is paid


@dataclass
class Berth:
    """A place at a quay, for boats up to a length in metres."""

    quay: str
    number: int
    longest: float

    def takes(self, length: float) -> bool:
        """Say whether a boat of this length may moor here."""
        return length <= self.longest


def fee(length: float, nights: int, month: int = 6) -> float:
    """Return what a boat pays by metre and night: each seventh free, half in November, December."""
    paid = nights - nights // 7
    return PER_METRE * length * paid * (0.5 if month in WINTER else 1.0)


def free(berths: list[Berth], taken: set[int], length: float) -> list[Berth]:
    """Return the berths that nobody has taken and a boat of this length fits, smallest first."""
    fitting = [berth for berth in berths if berth.number not in taken and berth.takes(length)]
    return sorted(fitting, key=lambda berth: berth.longest)
