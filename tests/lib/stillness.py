"""Whether the machine runs what wants to run: on one that is busy, or virtual, processes may stand still for seconds."""

import threading
import time

LOOK_SECONDS = 0.01


class Stillness:
    """`longest` is the longest time, in seconds, that a thread which looks at the clock all the while was not run."""

    def __init__(self):
        self.longest = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def look(self):
        last = time.monotonic()
        while not self.over.wait(LOOK_SECONDS):
            now = time.monotonic()
            self.longest = max(self.longest, now - last - LOOK_SECONDS)
            last = now
