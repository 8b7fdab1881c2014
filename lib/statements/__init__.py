"""Financial statements read by rules: rows of a page's tables, formulas over line items, and answers from them."""
