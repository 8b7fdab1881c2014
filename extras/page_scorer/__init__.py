"""Training of the page scorer that only a maintainer starts: folds ahead of the book, and mistakes."""
