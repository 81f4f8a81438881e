SELECT * FROM tasks WHERE source_kind = :kind AND source_ref = :ref;
