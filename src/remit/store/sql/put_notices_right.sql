-- No notice is put off for so long.
UPDATE notices SET due_at = :now WHERE due_at > :now + 7 * 86400000;
