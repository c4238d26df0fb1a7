#!/usr/bin/env python3
"""Adds a task to the queue of jobs/inbox.yaml for each log that arrives.

  python3 jobs/inbox/feed.py [--once] [--opflow PROGRAM]

Moves each log to the folder `taken`, under a name that is valid in a task ID, then adds a task for
each log there. You can kill and restart it at any time: opflow ignores a task that the run already
has.
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
            # The time makes the name unique: tomorrow's log may have the same name.
            os.rename(f"{IN}/{name}", f"{TAKEN}/{plain}.{time.time_ns()}")


def add(opflow, known):
    """Adds tasks for new logs. Returns the logs that are known to have a task."""
    taken = set(os.listdir(TAKEN))
    new = sorted(taken - known)
    if not new:
        return taken
    tasks = {
        f"pack-{name}": {"run": ["sh", "inbox/pack.sh", name], "retry": {"max": 3, "delay": "1s"}}
        for name in new
    }
    added = subprocess.run(
        [opflow, "add", "--run", "inbox", "-"], input=json.dumps({"tasks": tasks}), text=True
    )
    # If the queue is down, the next call adds them.
    return taken if added.returncode == 0 else known & taken


def main():
    parser = argparse.ArgumentParser(
        description="Adds a task to the queue of jobs/inbox.yaml for each log that arrives."
    )
    parser.add_argument("--once", action="store_true", help="check the folder once and exit")
    parser.add_argument("--opflow", default="opflow", help="path of opflow (default: opflow)")
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
