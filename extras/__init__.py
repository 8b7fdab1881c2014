"""What only a maintainer runs: publishing, benchmarks, training for export, experiments. No chapter needs it."""
