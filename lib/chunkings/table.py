"""The chunk tables that can be searched beside the study's own, on its pages and with ids of the same form.

``start`` and ``end`` are -1 where a chunk's text is no span of its page.
"""

from lib.chunkings import restructured, sizes
from lib.chunkings.elements import elements, merge
from lib.method import Chunking

CHUNKINGS: dict[str, Chunking] = {
    "elements": Chunking(lambda search: merge(elements(search))),
    **{name: Chunking(sizes.table, {"name": name}) for name in ("fixed_128", "fixed_256")},
    "fixed_512": Chunking(sizes.table, {"name": "fixed_512"}, version=2),
    "fixed_aggregate": Chunking(sizes.aggregate),
    **{name: Chunking(restructured.table, {"name": name}) for name in restructured.NAMES},
}
