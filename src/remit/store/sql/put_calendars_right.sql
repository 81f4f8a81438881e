UPDATE calendars SET looked_at = :now WHERE looked_at > :ahead;
