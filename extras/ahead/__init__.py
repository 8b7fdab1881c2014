"""What a maintainer runs for the page ranker: training the saved rankers."""
