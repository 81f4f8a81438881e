-- Talk: conversations that go on, turns that are owed an answer, and the tasks they are about.

ALTER TABLE conversations ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN channel TEXT NOT NULL DEFAULT 'dashboard'; -- where it began
ALTER TABLE conversations ADD COLUMN deleted_at INTEGER;

ALTER TABLE turns ADD COLUMN channel TEXT NOT NULL DEFAULT 'dashboard';
ALTER TABLE turns ADD COLUMN key TEXT; -- what is said under one key is said once
ALTER TABLE turns ADD COLUMN answers INTEGER; -- the turn that it answers
ALTER TABLE turns ADD COLUMN owed INTEGER NOT NULL DEFAULT 0; -- 1: an answer is still to come
ALTER TABLE turns ADD COLUMN details TEXT NOT NULL DEFAULT '{}'; -- JSON: what is read whole

-- The tasks that a turn is about.
CREATE TABLE mentions (
  conversation_id TEXT NOT NULL,
  n               INTEGER NOT NULL,
  task_id         TEXT NOT NULL,
  action          TEXT NOT NULL CHECK (action = 'created' OR action = 'updated' OR
                    action = 'discussed' OR action = 'completed'),
  PRIMARY KEY (conversation_id, n, task_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_by_task ON mentions (task_id);

INSERT INTO mentions (conversation_id, n, task_id, action)
SELECT conversation_id, n, task_id, task_action FROM turns WHERE task_id IS NOT NULL;
UPDATE conversations SET updated_at = MAX(created_at, COALESCE(
  (SELECT MAX(said_at) FROM turns WHERE conversation_id = conversations.id), 0));

-- What a turn is about stands in its row, or comes as well: either way it is found here.
CREATE TRIGGER turns_mention AFTER INSERT ON turns WHEN NEW.task_id IS NOT NULL
BEGIN
  INSERT INTO mentions (conversation_id, n, task_id, action)
  VALUES (NEW.conversation_id, NEW.n, NEW.task_id, NEW.task_action);
END;

CREATE UNIQUE INDEX turns_by_key ON turns (key) WHERE key IS NOT NULL;
CREATE INDEX turns_owed ON turns (said_at) WHERE owed = 1;
CREATE INDEX turns_of_owner ON turns (said_at) WHERE role = 'user';
CREATE INDEX conversations_by_title ON conversations (title, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX conversations_recent ON conversations (updated_at, id) WHERE deleted_at IS NULL;

-- Up to which event it has been told in conversations what became of tasks.
INSERT INTO meta (key, value) SELECT 'told', COALESCE(MAX(seq), 0) FROM events;
