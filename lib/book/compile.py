"""jupyter-book's command line, run as a process of its own that ends with its parent.

It collects no garbage, which takes a third of the time, and does not look up all packages for every citation.
"""

import gc
from functools import cache

import pybtex.plugin
from jupyter_book.cli.main import main

from lib.files import end_with_parent

if __name__ == "__main__":
    gc.disable()
    end_with_parent()
    pybtex.plugin.entry_points = cache(pybtex.plugin.entry_points)
    main()
