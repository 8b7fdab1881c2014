"""Models: their weights, encoders, rerankers, generators and what they wrote, and the index of vectors."""
