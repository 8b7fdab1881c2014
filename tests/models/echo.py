"""Answers without a model: each prompt, its seed and the number of the process, or the failure that it asks for."""

import os
import time

from lib.models.prompts import Request


def answer(settings: tuple, request: Request) -> dict:
    """As :func:`lib.models.generator.answer`."""
    user = request.prompt.user
    if user == "die" or settings[1] == 13:
        os._exit(9)
    if user == "hang":
        time.sleep(60)
    if user == "fail":
        raise RuntimeError("no such model")
    reply = {"text": f" {user} {request.sampling.seed} {os.getpid()}", "n_prompt_tokens": 4, "n_tokens": 3}
    return {"error": "exceeds the context"} if user == "long" else reply | {"finish_reason": "stop"}
