"""Files as an older installation may have left them, and what became of them."""

import json
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from remit.model.ids import TaskId
from remit.model.task import Task
from remit.store import home
from tests.store.scene import Scene

WRITTEN = datetime(2026, 2, 19, 20, 0, tzinfo=UTC)
S3_TASKS = """
CREATE TABLE tasks (
  id TEXT PRIMARY KEY, type TEXT NOT NULL, source_type TEXT NOT NULL, source_ref TEXT,
  title TEXT NOT NULL, instructions TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'pending',
  session_id TEXT NOT NULL, recurrence_id TEXT, occurrence_date TEXT, scheduled_for TEXT,
  started_at TEXT, completed_at TEXT, created_by TEXT NOT NULL, log_path TEXT NOT NULL,
  created_at TEXT NOT NULL DEFAULT (datetime('now'))
);
CREATE INDEX idx_tasks_status ON tasks(status);
"""
TALK = """
CREATE TABLE conversations (
  id TEXT PRIMARY KEY, channel TEXT, title TEXT, created TEXT, topics TEXT, turn_count INTEGER
);
CREATE TABLE turns (
  id INTEGER PRIMARY KEY, conversation_id TEXT REFERENCES conversations(id), turn_number INTEGER,
  role TEXT, content TEXT, timestamp TEXT, model TEXT, task_id TEXT, task_action TEXT
);
INSERT INTO conversations VALUES
  ('conv-1', 'whatsapp', 'Bangkok', '2026-02-18T10:00:00Z', '["travel"]', 3),
  ('conv-2', NULL, NULL, '2026-02-19 08:00:00', NULL, 0);
INSERT INTO turns VALUES
  (1, 'conv-1', 2, 'assistant', 'On it.', '2026-02-18T10:00:05Z', 'opus', 'task-a', 'created'),
  (2, 'conv-1', 1, 'user', 'Research Bangkok, please.', '2026-02-18T10:00:00Z', NULL, NULL, NULL),
  (3, 'conv-1', 3, 'narrator', 'Meanwhile', NULL, NULL, 'task-gone', NULL),
  (4, 'conv-lost', 1, 'human', x'c3bc6265', 1771495200, NULL, NULL, NULL);
"""


def lay(folder: Path, script: str) -> Path:
    """Write an old file, last changed long ago."""
    folder.mkdir(parents=True, exist_ok=True)
    old = folder / "conversations.db"
    with closing(sqlite3.connect(old)) as db:
        db.executescript(f"BEGIN; {script}; COMMIT;")
    os.utime(old, (WRITTEN.timestamp(), WRITTEN.timestamp()))
    return old


def task(ident: str, status: str, **more: object) -> str:
    """Return the statement that puts a task into an old file."""
    row: dict[str, object] = {
        "id": ident,
        "type": "immediate",
        "source_type": "conversation",
        "source_ref": "conv-1",
        "title": f"Title of {ident}",
        "instructions": f"Do {ident}",
        "status": status,
        "session_id": "session-7",
        "created_by": "agent",
        "log_path": f".my_agent/tasks/logs/{ident}.jsonl",
        "created_at": "2026-02-18 09:00:00",
        **more,
    }
    values = ", ".join("NULL" if cell is None else f"'{cell}'" for cell in row.values())
    return f"INSERT INTO tasks ({', '.join(row)}) VALUES ({values});\n"  # noqa: S608


def carried(folder: Path) -> Scene:
    home.prepare(folder / "agent.db")
    scene = Scene(folder / "agent.db")
    assert scene.complaints() == []
    return scene


def by_origin(scene: Scene) -> dict[str, Task]:
    found = [scene.get(TaskId(str(row["id"]))) for row in scene.sql("SELECT id FROM tasks")]
    origins = [json.loads(json.dumps(each.context["origin"])) for each in found]
    return {origin["id"]: each for origin, each in zip(origins, found, strict=True)}
