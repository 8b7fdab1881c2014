"""What a reader sees: tables, figures and their words."""
