-- The index is to be made anew.
DELETE FROM snippets;
