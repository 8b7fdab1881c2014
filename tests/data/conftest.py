"""Reading a folder that is wrong."""

import pytest

from lib.schema import DatasetError


def problems_of(read, *given) -> list[str]:
    """The lines of the one error that reading ends in; the first gives their number."""
    with pytest.raises(DatasetError) as caught:
        read(*given)
    first, *rest = str(caught.value).splitlines()
    assert first.endswith(f": {len(rest)} problem" + ("s" if len(rest) > 1 else ""))
    return [line.strip() for line in rest]
