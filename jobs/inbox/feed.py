#!/usr/bin/env python3
"""Feeds the queue of jobs/inbox.yaml: a task for each log that comes.

  python3 jobs/inbox/feed.py [--once] [--opflow PROGRAM]

It first takes a log out of the folder, under a name that is fit for a task, and then adds a task for all that was
taken and is not packed yet. Killed between the two, it adds it the next time: a task that the run has already is
left as it is.
"""
import argparse
import json
import os
import re
import subprocess
import time

IN = "out/inbox/in"
TAKEN = "out/inbox/taken"


def take():
    for name in sorted(os.listdir(IN)):
        if not name.startswith("."):
            plain = re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-.")[:80]
            # Tomorrow's log may have the same name.
            os.rename(f"{IN}/{name}", f"{TAKEN}/{plain}.{time.time_ns()}")


def add(opflow, known):
    """What is taken and, as far as is known, of the run."""
    taken = set(os.listdir(TAKEN))
    new = sorted(taken - known)
    if not new:
        return taken
    tasks = {
        f"pack-{name}": {"run": ["sh", "inbox/pack.sh", name], "retry": {"max": 3, "delay": "1s"}}
        for name in new
    }
    asked = subprocess.run(
        [opflow, "add", "--run", "inbox", "-"], input=json.dumps({"tasks": tasks}), text=True
    )
    # The queue may be back in a moment.
    return taken if asked.returncode == 0 else known & taken


def main():
    parser = argparse.ArgumentParser(description="Feeds the queue of jobs/inbox.yaml.")
    parser.add_argument("--once", action="store_true", help="look once, as a timer would have it")
    parser.add_argument("--opflow", default="opflow", help="the program")
    arguments = parser.parse_args()
    opflow = arguments.opflow
    if "/" in opflow:
        opflow = os.path.abspath(opflow)
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for folder in (IN, TAKEN):
        os.makedirs(folder, exist_ok=True)
    known = set()
    while True:
        take()
        known = add(opflow, known)
        if arguments.once:
            break
        time.sleep(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
