UPDATE tokens SET used_at = :now WHERE id = :id;
