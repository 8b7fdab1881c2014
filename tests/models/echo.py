"""A model for processes of their own, which import this file alone."""

import os
import sys
import time


def load_echo(settings: dict):
    """Load a model that says its prompt, seed and process, or fails as the prompt says."""
    if settings["context"] == 13:
        sys.exit("no such model")

    def reply(request: dict) -> dict:
        user = request["messages"][-1]["content"]
        if user == "die":
            print("out of memory", file=sys.stderr, flush=True)
            os._exit(9)
        if user == "hang":
            time.sleep(60)
        if user == "long":
            return {"error": "exceeds the context"}
        about = {"n_prompt_tokens": 4, "n_tokens": 3, "finish_reason": "stop"}
        return {"text": f" {user} {request['seed']} {os.getpid()}"} | about

    return reply
