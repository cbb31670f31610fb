-- web_ad_keep: stores a deferred web ad, unless another ad has the same nonce. If the same ad is already stored, its time to live begins
-- again.
-- KEYS 1 hash of the nonce: the ad, and the payload for each site
-- ARGV 1 ad  2 seconds to live
-- Returns 1 if this ad is stored, 0 if another ad has the nonce.
local stored = KEYS[1]
local ad, seconds = unpack(ARGV)
local earlier = redis.call('HGET', stored, 'ad')
if earlier and earlier ~= ad then return 0 end
if not earlier then redis.call('HSET', stored, 'ad', ad) end
redis.call('EXPIRE', stored, seconds)
return 1
