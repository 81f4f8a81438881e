SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1;
