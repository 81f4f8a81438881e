UPDATE sign_ins SET ended_at = :now WHERE id = :id AND ended_at IS NULL;
