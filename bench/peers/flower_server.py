"""Flower behind a port, told by Celery's events of as many tasks as are wanted."""

import json
import sys
import time
import uuid

from celery import Celery
from flower.app import Flower
from flower.urls import settings
from tornado.options import options


def main(size: str) -> None:
    """Serve it, until told to stop."""

    options.address, options.port = "127.0.0.1", 0
    options.enable_events, options.max_tasks = False, int(size)
    flower = Flower(capp=Celery(broker="memory://"), options=options, **settings)
    for number in range(int(size)):
        for event in _life(number):
            flower.events.state.event(event)
    print(json.dumps(flower.start_http_server()), flush=True)
    flower.io_loop.start()


def _life(number: int) -> list[dict[str, object]]:
    """What a worker tells about a task that went well."""
    told = {"uuid": str(uuid.UUID(int=number)), "hostname": "worker@bench", "pid": 1}
    at = time.time() - number
    times = {"timestamp": at, "local_received": at, "utcoffset": 0}
    named = {"name": "errand.run", "args": f"('Prepare report {number}',)", "kwargs": "{}"}
    done = {"runtime": 0.1, "result": "'done'"}
    return [
        {**told, **times, **named, "type": "task-received", "clock": 3 * number},
        {**told, **times, "type": "task-started", "clock": 3 * number + 1},
        {**told, **times, **done, "type": "task-succeeded", "clock": 3 * number + 2},
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
