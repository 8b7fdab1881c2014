"""A notebook cell that needs filings, where only published results are: one line, and the next cells go on."""

import ast
import re

from lib.words import NeedsFilings

MARK = "needs_filings"
ERRORS = ("NeedsFilings", "NameError", "KeyError", "AttributeError")
TEXTS = ("question", "answer", "evidence")


def tell_instead_of_failing() -> None:
    """In a notebook: show one line where a cell fails for lack of filings; any other failure is shown as it is.

    A cell that uses a name that such a cell should have set fails for the same reason. Outside a notebook this does
    nothing.
    """
    from IPython import get_ipython

    if shell := get_ipython():
        shell.absent_names = set()
        shell.set_custom_exc((NeedsFilings, NameError, KeyError, AttributeError), _tell)


def _tell(shell, kind, error, trace, tb_offset=None) -> None:
    reason = reason_of(error, shell.absent_names)
    if reason is None:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        return
    names = assigned_names(shell.user_ns["In"][-1])
    shell.absent_names |= names
    for name in names:
        shell.user_ns.pop(name, None)
    line = f"*Not shown: {reason}.*"
    shell.display_pub.publish({"text/markdown": line, "text/plain": line}, metadata={MARK: True})


def reason_of(error: Exception, absent_names: set[str]) -> str | None:
    """Why a cell failed, if it is for lack of filings: itself, a text that is not published, a name not set before."""
    if isinstance(error, NeedsFilings):
        return str(error)
    if isinstance(error, NameError):
        return (
            "this needs what an earlier cell takes from the filings" if error.name in absent_names else None
        )
    names = [error.name] if isinstance(error, AttributeError) else re.findall(r"'(\w+)'", str(error))
    missing = [name for name in TEXTS if name in names]
    return (
        f"the {missing[0]}'s text comes with the filings, which are not on this machine" if missing else None
    )


def assigned_names(source: str) -> set[str]:
    """The names that a cell assigns."""
    nodes = ast.walk(ast.parse(source))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
