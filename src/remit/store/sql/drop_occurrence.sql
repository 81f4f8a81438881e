UPDATE occurrences SET state = 'dropped', why = :why WHERE uid = :uid AND key = :key;
