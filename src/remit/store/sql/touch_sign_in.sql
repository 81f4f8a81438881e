UPDATE sign_ins SET used_at = :now WHERE id = :id;
