-- list: changes a key that transactions watch (CommitTransaction). A transaction that has chosen the ids of its events and is not executed
-- yet fails then. Otherwise its events could get ids from before the time up to which the caller lists events (EventFeed+List.swift).
-- KEYS 1 number of lists
-- Returns the new number.
return redis.call('INCR', KEYS[1])
