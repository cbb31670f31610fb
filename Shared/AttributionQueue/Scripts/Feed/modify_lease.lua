-- modify_lease: restarts the lease of events of one shard with another length. A consumer's name is the length of its leases in
-- milliseconds (pull.lua).
-- KEYS 1 events stream
-- ARGV 1 group  2 lease, ms; 0: gives the events back  3, 4… for each event its entry id and the delivery count that pull.lua returned,
--      which identifies the lease; empty: any lease
-- Returns the number of leased events, or -1 if the subscription has no group in this shard.
local stream, group, lease = KEYS[1], ARGV[1], ARGV[2]
local modified = 0
for index = 3, #ARGV, 2 do
  local id, expected = ARGV[index], ARGV[index + 1]
  local pending = redis.pcall('XPENDING', stream, group, id, id, 1)
  if pending['err'] then return -1 end
  if pending[1] then
    local length, age, delivered = tonumber(pending[1][2]), pending[1][3], pending[1][4]
    -- An event with an expired lease may be leased by another reader at any time, so it does not count as leased. If it was leased again,
    -- the lease is another reader's.
    if age < length and (expected == '' or tonumber(expected) == delivered) then
      local claimed = redis.call('XCLAIM', stream, group, lease, 0, id, 'JUSTID')
      modified = modified + #claimed
    end
  end
end
return modified
