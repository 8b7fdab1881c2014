"""Words of texts: tokens, stop words, weights of rare words, and acronyms of finance."""
