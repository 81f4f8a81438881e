"""Plays the day and records what its doors show: `python -m tests.golden.recording FILE FOLDER`.

The recording is a table: name of a golden file -> title of a section -> its text. The days are
played in a process of their own, because the clock of every command is the clock of the day.
"""

import hashlib
import json
import logging
import os
import re
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeAlias, cast

from remit.model.codec import JsonMap
from remit.system.files import write_atomic
from tests.golden import asked, files, typed
from tests.golden.day import Day, fill
from tests.golden.masks import Masks
from tests.server.served import TOKEN

Sections: TypeAlias = dict[str, str]
Recording: TypeAlias = dict[str, Sections]

_SECOND: Final = timedelta(seconds=1)
_FIELD: Final = re.compile(r" (?=[\w.-]+=)")
_WHOLE_PAGE: Final = "/inbox"  # shown with the frame that all pages have


def record(folder: Path) -> Recording:
    """Play the day three times: for what reads and the API, for commands, and for forms."""
    made: Recording = {}
    for name, play in (("api", _api_day), ("typing", _typing_day), ("forms", _forms_day)):
        place = folder / name
        place.mkdir()
        with Day(place) as day, typed.at_home(day.home, day.clock):
            write_atomic(day.home / "token", TOKEN, mode=0o600)
            day.play()
            found = play(day)
        if name == "typing":
            found["cli_alone.txt"] = _typed(day, "cli_alone")
        texts = [text for sections in found.values() for text in sections.values()]
        places = {str(day.home): "HOME", str(place): "FOLDER", sys.executable: "PYTHON"}
        masks = Masks(texts, places)
        for file, sections in found.items():
            made[file] = {title: masks.hide(text) for title, text in sections.items()}
    return made


def _api_day(day: Day) -> Recording:
    found: Recording = {"live.txt": _live(day), "http_reads.txt": _reads(day)}
    found |= _pages(day)
    found["cli_help.txt"] = _typed(day, "cli_help")
    found["cli_reads.txt"] = _typed(day, "cli_reads")
    found["openapi.txt"] = _openapi(day)
    day.stop_work()
    found["http_writes.txt"] = _writes(day)
    found["agents.txt"] = _agents(day)
    return found


def _typing_day(day: Day) -> Recording:
    day.stop_work()
    return {"cli_writes.txt": _typed(day, "cli_writes")}


def _forms_day(day: Day) -> Recording:
    day.stop_work()
    made: Sections = {}
    for method, path, said in files.http_requests("page_forms"):
        form = dict(each.split("=", 1) for each in _FIELD.split(said)) if said else {}
        answer = asked.send_form(day, path, form)
        _put(made, f"{method} {path} {said}", asked.written(answer, frame=None))
        day.pass_time(seconds=1)
    return {"page_forms.txt": made}


def _live(day: Day) -> Sections:
    """A task comes along whole with many messages: what it was before is not written again.

    What happens at one moment to several things stands thing by thing.
    """
    seen: dict[str, JsonMap] = {}
    lines = []
    for each in sorted(asked.live(day), key=lambda each: (str(each.get("at", "")), _about(each))):
        task = each.get("task")
        if isinstance(task, dict):
            before, seen[str(task["id"])] = seen.get(str(task["id"]), {}), task
            new = {name: value for name, value in task.items() if before.get(name, 0) != value}
            each["task"] = new | ({"...": "as before"} if before else {})
        lines.append(json.dumps(each, ensure_ascii=False) + "\n")
    return {"the day": "".join(lines)}


def _about(message: JsonMap) -> str:
    """What a message is about: a conversation or a task, of which the latter are told first."""
    return str(message.get("conversation") or message.get("taskId") or "")


def _reads(day: Day) -> Sections:
    made: Sections = {}
    answer = asked.read(day, "/api/views")
    made["also: every header of GET /api/views"] = asked.every_header(answer)
    made["also: GET /api/views without a token"] = asked.written(asked.read(day, "/api/views", {}))
    for method, path, _ in files.http_requests("http_reads"):
        _put(made, f"{method} {path}", asked.written(asked.read(day, path)))
    return made


def _pages(day: Day) -> Recording:
    whole = asked.read(day, _WHOLE_PAGE)
    frame = asked.frame_of(whole.text)
    found: Recording = {}
    for name in files.PAGES:
        made = found[f"{name}.txt"] = {}
        for method, path, _ in files.http_requests(name):
            answer = asked.read(day, path)
            shown = asked.written(answer, frame="" if path == _WHOLE_PAGE else frame)
            _put(made, f"{method} {path}", shown)
    found["pages.txt"]["also: every header of GET /inbox"] = asked.every_header(whole)
    stranger = asked.read(day, "/tasks", {})
    found["pages.txt"]["also: GET /tasks without a token"] = asked.written(stranger)
    return found


def _writes(day: Day) -> Sections:
    made: Sections = {}
    for ident in ("msg_2", "msg_2"):
        _put(made, "also: POST /hooks/in/orders signed", asked.written(day.call_hook(ident)))
    for method, path, said in files.http_requests("http_writes"):
        answer = asked.write(day, method, path, said)
        _put(made, f"{method} {path} {said}", asked.written(answer))
        day.pass_time(seconds=1)
    return made


def _agents(day: Day) -> Sections:
    made: Sections = {}
    counts = Counter[str]()
    for protocol, method, params in files.http_requests("agents"):
        answer = asked.ask_agent(day, protocol, method, params, counts[protocol])
        _put(made, f"{protocol} {method} {params}", asked.written(answer))
        _note_made(day, cast("JsonMap", answer.json()))
        counts[protocol] += 1
        day.pass_time(seconds=1)
    return made


def _note_made(day: Day, answer: JsonMap) -> None:
    """Name the task that was entrusted."""
    result = cast("JsonMap", answer.get("result") or {})
    content = cast("JsonMap", result.get("structuredContent") or result.get("task") or {})
    if content.get("id"):
        day.names["made"] = str(content["id"])


def _openapi(day: Day) -> Sections:
    document = cast("dict[str, JsonMap]", asked.read(day, "/openapi.json").json())
    whole = json.dumps(document, sort_keys=True).replace(str(day.port), "PORT")
    ways = [
        f"{method.upper()} {path}: {', '.join(cast('JsonMap', way['responses']))}\n"
        for path, ways in document["paths"].items()
        for method, way in cast("dict[str, JsonMap]", ways).items()
    ]
    schemas = cast("dict[str, JsonMap]", document["components"]["schemas"])
    shapes = [
        f"{name}: {', '.join(cast('JsonMap', each.get('properties', {})))}\n"
        for name, each in schemas.items()
    ]
    digest = hashlib.sha256(whole.encode()).hexdigest()
    return {
        "GET /openapi.json": f"sha256 of the whole: {digest[:24]}\n",
        "ways": "".join(ways),
        "shapes": "".join(shapes),
    }


def _typed(day: Day, file: str) -> Sections:
    made: Sections = {}
    names = day.names | {"folder": str(day.home.parent)}
    for line, stdin in files.typed_lines(file):
        said = typed.type_line(fill(line, names), fill(stdin, names))
        _put(made, f"remit {line}" + (f" <<< {json.dumps(stdin)}" if stdin else ""), said)
        if file == "cli_writes":
            day.pass_time(seconds=1)
        elif file == "cli_alone":
            day.clock.advance(_SECOND)
    return made


def _put(made: Sections, title: str, text: str) -> None:
    """Keep a section; what is asked again is numbered."""
    title = name = title.strip()
    n = 1
    while name in made:
        n += 1
        name = f"{title} ({n})"
    made[name] = text


def main() -> None:
    logging.disable()
    os.environ["TZ"] = "UTC"  # commands show times on the clock of the machine
    time.tzset()
    file, folder = map(Path, sys.argv[1:])
    file.write_text(json.dumps(record(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
