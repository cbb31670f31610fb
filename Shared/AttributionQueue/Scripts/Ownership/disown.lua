-- disown: gives a shard back.
-- KEYS 1 ownership
-- ARGV 1 the caller's ownership
-- Returns 1 if the shard was given back, 0 if it has another owner.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], string.match(ARGV[1], '^%d+') .. ' -')
return 1
