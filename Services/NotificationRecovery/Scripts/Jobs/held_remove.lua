-- held_remove: removes released notifications from the beginning of a recovery's list of held notifications. It stops at the first one that
-- was not released, so that a repeated call removes nothing else.
-- KEYS 1 list of delivery ids
-- ARGV 1… released delivery ids
-- Returns the number of removed entries.
local list, released = KEYS[1], {}
for _, id in ipairs(ARGV) do released[id] = true end
local removed = 0
while true do
  local first = redis.call('LINDEX', list, 0)
  if not first or not released[first] then return removed end
  redis.call('LPOP', list)
  removed = removed + 1
end
