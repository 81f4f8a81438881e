SELECT score, why FROM scores WHERE digest = :digest;
