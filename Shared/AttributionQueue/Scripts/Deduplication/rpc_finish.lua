-- rpc_finish: stores the answer of the call that owns the key, or frees the key.
-- KEYS 1 the key's record
-- ARGV 1 owner  2 'done', 'repeat' or 'free'  3 status  4 code  5 body  6 expiry, seconds
-- 'repeat' stores only the fingerprint of the request, in a field that older builds do not read: for them the key is free.
-- Returns 1 if done, 0 if another call owns the key.
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
if ARGV[2] == 'free' then
  redis.call('DEL', KEYS[1])
elseif ARGV[2] == 'repeat' then
  local fingerprint = redis.call('HGET', KEYS[1], 'fingerprint')
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'repeat', fingerprint)
  redis.call('EXPIRE', KEYS[1], ARGV[6])
else
  redis.call('HSET', KEYS[1], 'state', 'done', 'status', ARGV[3], 'code', ARGV[4], 'body', ARGV[5])
  redis.call('HDEL', KEYS[1], 'owner')
  redis.call('EXPIRE', KEYS[1], ARGV[6])
end
return 1
