"""Other chunk tables over the same filings, see :data:`lib.chunkings.table.CHUNKINGS`."""
