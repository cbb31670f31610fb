-- suspect: counts a start of a message on which a former owner of the shard may have crashed.
-- KEYS 1 ownership  2 suspects
-- ARGV 1 the caller's ownership  2 entry id
-- Returns how often the message was started since the crash, including this time; -1 if another worker owns the shard.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
return redis.call('HINCRBY', KEYS[2], ARGV[2], 1)
