UPDATE sign_ins SET ended_at = :now WHERE ended_at IS NULL;
