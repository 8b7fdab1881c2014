"""Commands beside the book: publishing, verifying, benchmarks, exports, experiments. No chapter needs it."""
