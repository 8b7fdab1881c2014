"""jupyter-book's command line as a process that ends with its parent, and without garbage collection, faster so."""

import gc

from jupyter_book.cli.main import main

from lib.files import end_with_parent

if __name__ == "__main__":
    gc.disable()
    end_with_parent()
    main()
