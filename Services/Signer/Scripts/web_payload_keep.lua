-- web_payload_keep: stores the payload of a deferred web ad that was signed for a site, unless the site has a payload already.
-- KEYS 1 hash of the nonce: the ad, and the payload for each site
-- ARGV 1 the site's field  2 payload  3 maximum number of sites
-- Returns the site's payload, which may be the earlier one; nil if the ad has expired or was signed for too many sites.
local stored = KEYS[1]
local site, payload, maximum = ARGV[1], ARGV[2], tonumber(ARGV[3])
local earlier = redis.call('HGET', stored, site)
if earlier then return earlier end
if redis.call('HEXISTS', stored, 'ad') == 0 then return false end
-- One of the fields is the ad, so the hash has one field more than payloads.
if redis.call('HLEN', stored) > maximum then return false end
redis.call('HSET', stored, site, payload)
return payload
