UPDATE deliveries
   SET sent_at = MIN(sent_at, :now), doubted_at = MIN(doubted_at, :now)
 WHERE sent_at > :ahead OR doubted_at > :ahead;
