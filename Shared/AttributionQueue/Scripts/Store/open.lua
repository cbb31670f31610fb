-- open: reads the digest key and the form of the store, and initialises an empty store.
-- KEYS 1 digest key  2 form
-- ARGV 1 digest key for an empty store  2 form for an empty store
-- Returns {digest key, form or nil if an older build initialised the store}.
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('SET', KEYS[1], ARGV[1])
  redis.call('SET', KEYS[2], ARGV[2], 'NX')
end
return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])}
