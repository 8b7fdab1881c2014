"""From notebooks to a published book: run by papermill, compiled by jupyter-book."""

import sys

# jsonschema would build a grammar of addresses, which takes two seconds, for a format that no notebook contains
sys.modules.setdefault("rfc3987_syntax", None)
