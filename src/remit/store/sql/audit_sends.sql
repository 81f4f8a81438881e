-- Everything that decides where a delivery stands, in the order it happened.
SELECT kind, data FROM events
 WHERE kind IN ('delivery.claimed', 'delivery.settled', 'review.decided', 'store.restored')
 ORDER BY seq;
