"""The page scorer: ranks pages first and chunks inside them second (Kobeissi & Langlais, 2026)."""
