-- modify_lease: restarts the lease of events of one shard with another length.
-- KEYS 1 events stream
-- ARGV 1 group  2 lease, ms; 0: gives the events back  3… entry ids
-- Returns the number of leased events, or -1 if the subscription has no group in this shard.
local modified = 0
for index = 3, #ARGV do
  local pending = redis.pcall('XPENDING', KEYS[1], ARGV[1], ARGV[index], ARGV[index], 1)
  if pending['err'] then return -1 end
  -- An event with an expired lease may be leased by another reader at any time, so it does not count as leased.
  if pending[1] and pending[1][3] < tonumber(pending[1][2]) then
    local claimed = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[index], 'JUSTID')
    modified = modified + #claimed
  end
end
return modified
