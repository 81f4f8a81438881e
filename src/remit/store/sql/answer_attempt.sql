-- Evidence is kept even if the lease is gone: it may settle a doubt later.
UPDATE attempts SET answer = :answer, note = :note, answered_at = :now
 WHERE delivery_id = :id AND n = :n AND lease = :lease AND answer IS NULL;
