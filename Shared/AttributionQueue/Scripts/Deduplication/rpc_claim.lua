-- rpc_claim: claims an RPC's idempotency key.
-- KEYS 1 the key's record
-- ARGV 1 owner  2 fingerprint of the request  3 lease, ms
-- Returns {'new'}, {'reused'}, {'running'}, or {'done', status, code, body}. A call whose answer is not stored is 'new' again.
local record = redis.call('HMGET', KEYS[1], 'fingerprint', 'state', 'status', 'code', 'body', 'repeat')
if not record[1] then
  if record[6] and record[6] ~= ARGV[2] then return {'reused'} end
  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[2], 'state', 'running', 'owner', ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return {'new'}
end
if record[1] ~= ARGV[2] then return {'reused'} end
if record[2] == 'done' then return {'done', record[3], record[4], record[5]} end
return {'running'}
