"""The other end of :class:`LocalProcesses`: a process that carries out texts from its input."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time

from latentry.training.engines.engine import TextTask

__all__ = ["serve"]

_LOOK = 1.0  # seconds between two looks at whether the parent still lives


def serve(task: TextTask) -> None:
    """Carry out each line of the standard input and answer it on the standard output, until the input ends.

    The first word of the command line, if any, names the cores of this process. What a library prints goes to the error stream.
    If the parent dies, this process ends as by SIGTERM: a fit saves its state first.

    Args:
        task: Called with each text.
    """
    if len(sys.argv) > 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core) for core in sys.argv[1].split(",")})
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    for line in sys.stdin:
        answers.write(json.dumps(task(json.loads(line))) + "\n")
        answers.flush()


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os.kill(os.getpid(), signal.SIGTERM)
