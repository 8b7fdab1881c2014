"""The kinds of filing, each drawn from cover to signatures."""
