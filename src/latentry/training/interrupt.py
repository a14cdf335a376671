"""Ctrl-C and termination as a wish to stop at the next safe point."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

__all__ = ["Interrupts", "Terminated"]

_Handler = Callable[[int, FrameType | None], object] | int | None


class Terminated(SystemExit):
    """The process was asked to end (SIGTERM) while it trained; ``state`` is where training stopped."""

    def __init__(self, state: object) -> None:
        super().__init__(128 + signal.SIGTERM)  # 143, as shells and schedulers know it
        self.state = state


class Interrupts:
    """Within this context the first Ctrl-C (or SIGTERM) only raises a flag; the second acts as usual."""

    def __init__(self) -> None:
        self.asked = False
        self._terminated: _Handler = None  # what SIGTERM did before, if it came
        self._before: dict[int, _Handler] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._ask)
        return self

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if number == signal.SIGTERM:
            self._terminated = self._before[number]
        self._restore()

    def _restore(self) -> None:
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, handler)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def end_process(self, state: object) -> None:
        """Do what SIGTERM asked for, after the state is saved: a scheduler's stop ends the process, not only the fit.

        Args:
            state: Where training stopped.

        Raises:
            Terminated: If SIGTERM came and the program has no handler of its own, which is called otherwise.
        """
        if self._terminated == signal.SIG_DFL:
            raise Terminated(state)
        if self._terminated is not None:
            signal.raise_signal(signal.SIGTERM)
