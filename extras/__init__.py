"""Commands beside the book: publishing, verifying, measuring speeds and growth, training for export. No chapter needs it."""
