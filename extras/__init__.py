"""Commands beside the book: publishing, verifying, measuring and training. No chapter needs them."""
