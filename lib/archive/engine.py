"""Where the step that reads filings runs: in this process, or in the workers of a Ray cluster.

``ENGINE=ray`` maps filings by Ray Data on the cluster that Ray's own RAY_ADDRESS names, else on this machine. Workers
read filings by path and write nothing.
"""

import logging
import os
import socket
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lib.models.encoders import PRECISION, automatic_precision
from lib.schema import StudyError

ENGINE = "ENGINE"  # the variable that says where: ray, or empty
ADDRESS = "RAY_ADDRESS"
PREFIX = "RETRIEVAL_GAP_"  # how the variables begin that workers get from here
#: No report of use; a busy machine starts Ray slowly.
VARIABLES = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_raylet_start_wait_time_s": "300"}
QUIET = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}


def mapped(step: Callable, sources: Sequence[Path]) -> Iterator:
    """What the step gives of each source, one after another; with Ray, in the order in which they are done."""
    engine = os.environ.get(ENGINE, "")
    if engine not in ("", "ray"):
        raise StudyError(f"{ENGINE} is {engine!r}; give ray, or nothing for this process")
    return _on_ray(step, sources) if engine else map(step, sources)


class Worker:
    """The step in a process of its own, which loads the encoder once."""

    def __init__(self, step: Callable):
        self.step = step

    def __call__(self, row: dict[str, str]) -> dict[str, object]:
        """From a ``source`` to the step's ``result``, or the error that it ended in."""
        try:
            return {"result": self.step(Path(row["source"]))}
        except StudyError as error:
            return {"result": StudyError(f"{row['source']}: {error}")}
        except Exception as error:
            return {"result": StudyError(f"{row['source']}: {error!r}; run it without {ENGINE}=ray to see where")}


def _on_ray(step: Callable, sources: Sequence[Path]) -> Iterator:
    """The step mapped by a worker on each CPU of the cluster; the first error ends it."""
    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)
    try:
        import ray.data
    except ImportError:
        raise StudyError(f"{ENGINE}=ray needs Ray; run make ray") from None
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", ".*ray_remote_args. is deprecated")  # restarts have no other name yet
    variables = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    environment = {"env_vars": variables | {PRECISION: automatic_precision()}}
    rows = [{"source": str(source)} for source in sources]
    try:
        _check_answers(os.environ.get(ADDRESS, ""))
        with ray.init(runtime_env=environment, **QUIET):
            ray.data.DataContext.get_current().enable_progress_bars = False
            workers = ray.data.ActorPoolStrategy(size=min(len(rows), int(ray.cluster_resources()["CPU"])))
            filings = ray.data.from_items(rows, override_num_blocks=len(rows))
            for row in filings.map(Worker, fn_constructor_args=[step], compute=workers, max_restarts=0).iter_rows():
                if isinstance(row["result"], StudyError):
                    raise row["result"]
                yield row["result"]
    except (ray.exceptions.RayError, OSError, RuntimeError, ValueError) as error:
        why = str(error).strip().partition("\n")[0]
        mend = f"see to the cluster ({ADDRESS}, RAY_AUTH_MODE) and run it again, or without {ENGINE}=ray"
        raise StudyError(f"Ray failed ({why}); {mend}; filings that arrived are indexed") from None


def _check_answers(address: str) -> None:
    """An OSError where nothing is at a cluster's host:port, for which Ray itself waits a quarter of an hour."""
    host, _, port = address.rpartition(":")
    if port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=10).close()
