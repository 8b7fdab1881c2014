"""A served Chroma, started as a person starts it, that a test may kill."""

import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path


def free_port() -> int:
    """A port where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


class Server:
    """``chroma run`` over a folder, at an address ``host:port`` that stays the same when it is started again."""

    def __init__(self, folder: Path):
        self.folder, self.port = folder, free_port()
        self.address = f"localhost:{self.port}"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        program = Path(sys.executable).with_name("chroma")
        command = [program, "run", "--path", self.folder, "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"http://{self.address}/api/v2/heartbeat", timeout=5):
                return
            time.sleep(0.1)
        raise RuntimeError(f"chroma run ended with {self.process.returncode}")

    def kill(self) -> None:
        """Kill it, as a power cut does."""
        self.process.kill()
        self.process.wait()
