SELECT seq, kind, data, NULL AS about FROM events WHERE kind = 'store.restored' ORDER BY seq;
