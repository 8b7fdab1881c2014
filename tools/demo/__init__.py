"""The drawer of ``data/demo``: an invented mini-corpus in FinanceBench's own layout, written as real PDFs.

Twelve filings of four invented companies over three fiscal years (10-K, 10-Q, 8-K, earnings releases), whose figures
agree with each other, and questions of FinanceBench's three types. Nothing in it is random: the same code writes the
same bytes. What it contains is meant to be hard in the way that filings are: years that repeat each other nearly word
for word, the same figure in a statement, a summary and a note, and questions that use other words than the page.
"""
