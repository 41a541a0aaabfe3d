"""Indexes in object storage, or in anything else that fsspec reaches: published and replicated.

`index.save("s3://bucket/handbook")` publishes a generation, `Index.load("s3://bucket/handbook")`
copies what is new into the user's cache and maps it from there. fsspec comes with `clew[storage]`,
and is loaded when an address is opened.
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.storage.address import is_storage
    from clew.storage.bucket import StorageError
else:
    __getattr__, __dir__ = load_on_demand(
        __name__, {"address": "is_storage", "bucket": "StorageError"}
    )

__all__ = ["StorageError", "is_storage"]
