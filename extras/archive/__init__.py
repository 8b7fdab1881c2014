"""What a maintainer measures of archives: recall as filings are added."""
