"""Commands beside the book: publishing, verifying, measuring speeds and growth, and exports. No chapter needs them."""
