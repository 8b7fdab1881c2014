"""A process that says each prompt, its seed and its own number, or fails as the prompt says."""

import json
import os
import sys
import time
from multiprocessing.connection import Connection

pipe = Connection(int(sys.argv[1]))
if json.loads(sys.argv[2])["context"] == 13:
    sys.exit("no such model")
while True:
    request = pipe.recv()
    user = request["messages"][-1]["content"]
    if user == "die":
        print("out of memory", file=sys.stderr, flush=True)
        os._exit(9)
    if user == "hang":
        time.sleep(60)
    reply = {"text": f" {user} {request['seed']} {os.getpid()}", "n_prompt_tokens": 4, "n_tokens": 3}
    pipe.send({"error": "exceeds the context"} if user == "long" else reply | {"finish_reason": "stop"})
