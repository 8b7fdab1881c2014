"""Ten thousand files as runs: read with every passage accounted for, or refused in one sentence."""

import pytest
from hypothesis import HealthCheck, given, settings

from tests.diagnose.test_run_file import CONTENT, check

pytestmark = [pytest.mark.slow, pytest.mark.breaking]


@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(CONTENT)
def test_ten_thousand_files_are_runs_or_one_sentence(tmp_path_factory, content):
    check(tmp_path_factory.getbasetemp() / "run.jsonl", content)
