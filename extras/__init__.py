"""Commands beside the book: publishing, verifying, measuring, training and exports. No chapter needs them."""
