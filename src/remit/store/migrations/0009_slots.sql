-- What becomes of slots that were missed, and of runs that meet; how each slot ended.

-- NULL: as the settings say.
ALTER TABLE series ADD COLUMN missed TEXT
  CHECK (missed = 'skip' OR missed = 'run_once' OR missed = 'run_all');
ALTER TABLE series ADD COLUMN overlap TEXT
  CHECK (overlap = 'skip' OR overlap = 'queue_one' OR overlap = 'queue_all' OR
    overlap = 'cancel_other');

-- Skipped: somebody or something decided so. Missed: nobody was there.
ALTER TABLE skips ADD COLUMN fate TEXT NOT NULL DEFAULT 'skipped'
  CHECK (fate = 'skipped' OR fate = 'missed');
UPDATE skips SET fate = 'missed' WHERE why LIKE 'Remit was not running%';

-- The highest `no` that is summed up: whatever came later is not, even if the clock was set back.
ALTER TABLE sessions ADD COLUMN highest INTEGER;
