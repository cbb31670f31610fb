-- disown: gives a shard back.
-- KEYS 1 ownership
-- ARGV 1 the ownership, as its owner has it
-- Returns 1 when given back, 0 when another has it.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], string.match(ARGV[1], '^%d+') .. ' -')
return 1
