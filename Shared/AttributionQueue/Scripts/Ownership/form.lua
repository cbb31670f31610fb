-- A prefix of scripts that depend on the form of a shard.
local behindAll = '18446744073709551615-18446744073709551615'
-- groupPosition: the id behind which the group reads, which own sets: after every possible id in the owned form. Nil if no worker has taken
-- the shard yet.
local function groupPosition(ready, group)
  for _, info in ipairs(redis.pcall('XINFO', 'GROUPS', ready)) do
    local field = {}
    for place = 1, #info, 2 do field[info[place]] = info[place + 1] end
    if field.name == group then return field['last-delivered-id'] end
  end
end
-- entersLine: true if a message that is added to the stream enters its order line now: in the leased form. For a shard that no worker has
-- taken, `when` decides: accepted (now) or verified (later).
local function entersLine(ready, group, when)
  local position = groupPosition(ready, group)
  if position then return position ~= behindAll end
  return when == 'accepted'
end
