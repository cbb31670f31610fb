-- rpc_renew: renews the lease of the call that owns the key.
-- KEYS 1 the key's record
-- ARGV 1 owner  2 lease, ms
-- Returns 1 if done, 0 if another call owns the key.
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
