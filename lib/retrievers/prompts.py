"""The prompts of the retrievers as data, ``prompts.yaml``: kind of text to template."""

from pathlib import Path

import yaml

TEMPLATES: dict[str, str] = yaml.safe_load(Path(__file__).with_name("prompts.yaml").read_text())
