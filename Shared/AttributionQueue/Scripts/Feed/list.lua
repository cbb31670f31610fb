-- list: makes transactions fail that chose the ids of their events before now. They watch this key (CommitTransaction).
-- KEYS 1 number of lists
-- Returns the new number.
return redis.call('INCR', KEYS[1])
