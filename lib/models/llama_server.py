"""A llama.cpp server in a process of its own, one JSON line a request: ``python -m lib.models.llama_server``.

It reads a line of settings (``model``, ``context``, ``n_threads``) and answers ``{"is_ready": true}``; then it reads
requests (``messages``, ``max_tokens``, ``temperature``, ``top_p``, ``top_k``, ``seed``) and answers each with ``text``,
``n_prompt_tokens``, ``n_tokens`` and ``finish_reason``, or with ``error``. It ends when its input ends.

One prompt at a time and no prompt cache: text drawn with a seed then depends on the prompt alone. With other prompts in
the batch, or a prefix kept from an earlier prompt, sums are rounded in another order and most texts come out otherwise.
"""

import json
import os
import sys


def answer(server, request: dict) -> dict:
    """One request's answer, see above."""
    # min_p of 0: llama.cpp otherwise drops unlikely tokens without being asked to
    reply = server.handle_chat_completions(request | {"min_p": 0.0, "cache_prompt": False})
    if "error" in reply:
        return {"error": reply["error"]["message"]}
    choice = reply["choices"][0]
    return {
        "text": choice["message"]["content"] or "",
        "n_prompt_tokens": reply["usage"]["prompt_tokens"],
        "n_tokens": reply["usage"]["completion_tokens"],
        "finish_reason": choice["finish_reason"],
    }


def main() -> None:
    """Serve standard input until it ends."""
    with os.fdopen(os.dup(1), "w") as replies:
        os.dup2(2, 1)  # whatever llama.cpp prints must not mix with the replies
        import xllamacpp

        settings, params = json.loads(sys.stdin.readline()), xllamacpp.CommonParams()
        params.model.path = settings["model"]
        params.n_parallel = 1
        params.n_ctx = settings["context"]
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["n_threads"]
        params.fit_params = False  # take the context as given, whatever the free memory
        params.warmup = False
        params.cache_ram_mib = 0
        params.verbosity = -1
        server = xllamacpp.Server(params)
        print(json.dumps({"is_ready": True}), file=replies, flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(server, json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
