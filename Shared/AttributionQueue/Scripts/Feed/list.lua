-- list: ends transactions that chose the ids of their events before now. They watch this key (CommitTransaction).
-- KEYS 1 events listed
return redis.call('INCR', KEYS[1])
