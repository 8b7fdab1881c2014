"""Published rows computed again where the libraries are told to use less of the processor than it has."""

import os
import subprocess
import sys

import pytest

from lib.files import ROOT

#: Environments in which torch, oneDNN and OpenBLAS take other paths, without AVX-512 or bfloat16, or one core.
LESSER = {
    "AVX2, one thread": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "OMP_NUM_THREADS": "1"},
    "no vectors, old OpenBLAS": {"ATEN_CPU_CAPABILITY": "default", "OPENBLAS_CORETYPE": "NEHALEM"},
}
CHEAP = "bm25 splade"  # a model of two layers; MiniLM takes minutes where torch has no vector instructions


@pytest.mark.slow
@pytest.mark.weights
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("setting", LESSER)
def test_the_demo_s_cheapest_rows_are_as_published_on_a_lesser_processor(setting):
    names = ["--dataset", "demo", "--results", "fresh", "--methods", CHEAP]
    given = os.environ | LESSER[setting]
    done = subprocess.run(
        [sys.executable, "-m", "lib", "verify", *names], cwd=ROOT, env=given, capture_output=True, text=True
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert " equal, " in done.stdout
    assert ", 0 differs" in done.stdout
