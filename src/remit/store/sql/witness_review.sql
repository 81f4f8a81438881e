-- What a provider said after the owner was asked; the answer stays his.
UPDATE reviews SET evidence = evidence || :said WHERE about = :about AND decided_at IS NULL;
