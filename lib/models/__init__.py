"""Models: their weights, encoders, index, generator and page scorer."""
