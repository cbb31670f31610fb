-- open: reads what every instance must know about the store, and initialises an empty one.
-- KEYS 1 digest key  2 form
-- ARGV 1 a digest key for an empty Redis  2 its form
-- Returns {digest key, form or nothing where an older build began it}.
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('SET', KEYS[1], ARGV[1])
  redis.call('SET', KEYS[2], ARGV[2], 'NX')
end
return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])}
