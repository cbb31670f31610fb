-- reclaim: leases messages whose lease expired.
-- KEYS 1 ready stream
-- ARGV 1 group  2 consumer  3 lease, ms  4 maximum number to lease
-- Returns {number of leases in the shard, list of {entry id, fields, delivery count}}.
local claimed = redis.call('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], '0-0', 'COUNT', ARGV[4])[2]
local answer = {}
for _, entry in ipairs(claimed) do
  local pending = redis.call('XPENDING', KEYS[1], ARGV[1], entry[1], entry[1], 1)
  answer[#answer + 1] = {entry[1], entry[2], pending[1][4]}
end
return {redis.call('XPENDING', KEYS[1], ARGV[1])[1], answer}
