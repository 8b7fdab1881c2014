"""From notebooks to a published book: run by papermill, compiled by jupyter-book."""
