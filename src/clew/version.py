"""The version of clew, which saved indexes record."""

__version__ = "0.1.0"
