UPDATE spending SET at = :now WHERE at > :ahead;
