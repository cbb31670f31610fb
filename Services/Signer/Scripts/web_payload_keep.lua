-- web_payload_keep: stores the payload that was signed for a site, unless the site has one.
-- KEYS 1 hash of the nonce: the ad, and the payload for each site
-- ARGV 1 the site's field  2 payload  3 maximum number of sites
-- Returns the stored payload; nil if the ad has expired or was signed for too many sites.
local stored = KEYS[1]
local site, payload, most = ARGV[1], ARGV[2], tonumber(ARGV[3])
local earlier = redis.call('HGET', stored, site)
if earlier then return earlier end
if redis.call('HEXISTS', stored, 'ad') == 0 then return false end
-- One of the fields is the ad.
if redis.call('HLEN', stored) > most then return false end
redis.call('HSET', stored, site, payload)
return payload
