"""Which filing a question is about: names of companies, periods and types of filings, and how well they fit."""
