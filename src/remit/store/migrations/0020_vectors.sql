-- The index of recall is in the process by default, and its vectors in this file. What an earlier
-- version had read lies with its own index: it is read anew.
ALTER TABLE snippets ADD COLUMN vector BLOB; -- the length, four bytes, and a byte for each number
