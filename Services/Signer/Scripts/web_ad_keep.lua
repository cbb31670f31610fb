-- web_ad_keep: stores a deferred web ad, unless another one has its nonce.
-- KEYS 1 hash of the nonce: the ad, and the payload for each site
-- ARGV 1 ad  2 seconds to live
-- Returns 1 if the ad is stored now or was before, 0 if another one has the nonce.
local stored = KEYS[1]
local ad, seconds = unpack(ARGV)
local earlier = redis.call('HGET', stored, 'ad')
if earlier then return earlier == ad and 1 or 0 end
redis.call('HSET', stored, 'ad', ad)
redis.call('EXPIRE', stored, seconds)
return 1
