"""The diagnosis of runs from outside: any system's pages on the scale of the study."""
