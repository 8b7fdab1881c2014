"""A reader's own filings: indexed filing by filing, and asked for the pages that answer a question."""
