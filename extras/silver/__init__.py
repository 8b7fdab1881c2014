"""Silver questions: made by rule from filings that no question is about, to train on, never to score on."""
