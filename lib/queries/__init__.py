"""Questions reformulated before they are searched: spelt out, or answered by a language model."""
