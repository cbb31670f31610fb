-- expire_rejected: removes old bodies of rejected deliveries.
-- KEYS 1 to 3 bodies, index and sizes  4 a stream with bodies that version 0.1 stored, which is deleted
-- ARGV 1 bodies of deliveries that were rejected before this time are removed, ms, 13 digits  2 maximum number to remove
-- Returns {number removed, bytes of the others}.
redis.call('UNLINK', KEYS[4])
local removed, left = 0, 0
for _, class in ipairs(redis.call('HKEYS', KEYS[3])) do
  local range = {'[' .. class .. ' ', '(' .. class .. ' ' .. ARGV[1], 'LIMIT', 0, tonumber(ARGV[2]) - removed}
  for _, entry in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], unpack(range))) do
    removeRejected(KEYS[1], KEYS[2], KEYS[3], entry)
    removed = removed + 1
  end
end
for _, size in ipairs(redis.call('HVALS', KEYS[3])) do left = left + tonumber(size) end
return {removed, left}
