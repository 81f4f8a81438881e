UPDATE workers SET ended_at = :now, beat_at = :now WHERE id = :id;
