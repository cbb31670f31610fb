-- A prefix of scripts that depend on the form of a shard.
-- The greatest possible entry id: EntryID.greatest.
local greatestId = '18446744073709551615-18446744073709551615'
-- groupPosition: the entry id after which the consumer group reads. own.lua sets it to greatestId when a worker takes the shard in the
-- owned form. Nil if no worker has taken the shard yet.
local function groupPosition(ready, group)
  for _, info in ipairs(redis.pcall('XINFO', 'GROUPS', ready)) do
    local field = {}
    for index = 1, #info, 2 do field[info[index]] = info[index + 1] end
    if field.name == group then return field['last-delivered-id'] end
  end
end
-- entersLine: true if a message that is added to the stream enters its order line now, as in the leased form; false if it does so when it
-- is verified, as in the owned form. For a shard that no worker has taken, `when` decides: accepted (now) or verified (later).
local function entersLine(ready, group, when)
  local position = groupPosition(ready, group)
  if position then return position ~= greatestId end
  return when == 'accepted'
end
