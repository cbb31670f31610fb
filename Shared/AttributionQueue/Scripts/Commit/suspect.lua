-- suspect: counts how often a message was begun that an owner may have died of.
-- KEYS 1 ownership  2 suspects
-- ARGV 1 the ownership, as its owner has it  2 entry id
-- Answers how often it was begun, with this time; -1 when another owns the shard.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
return redis.call('HINCRBY', KEYS[2], ARGV[2], 1)
