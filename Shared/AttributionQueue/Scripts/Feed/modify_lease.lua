-- modify_lease: restarts the lease of events of one shard with another length.
-- KEYS 1 events stream
-- ARGV 1 group  2 lease, ms; 0: gives the events back  3, 4… for each event its entry id and how often it was leased when the caller leased
--      it; empty: any lease
-- Returns the number of leased events, or -1 if the subscription has no group in this shard.
local stream, group, lease = KEYS[1], ARGV[1], ARGV[2]
local modified = 0
for index = 3, #ARGV, 2 do
  local id, times = ARGV[index], ARGV[index + 1]
  local pending = redis.pcall('XPENDING', stream, group, id, id, 1)
  if pending['err'] then return -1 end
  if pending[1] then
    local length, age, now = tonumber(pending[1][2]), pending[1][3], pending[1][4]
    -- An event with an expired lease may be leased by another reader at any time, so it does not count as leased. If it was leased again,
    -- the lease is another reader's.
    if age < length and (times == '' or tonumber(times) == now) then
      local claimed = redis.call('XCLAIM', stream, group, lease, 0, id, 'JUSTID')
      modified = modified + #claimed
    end
  end
end
return modified
