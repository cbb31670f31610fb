-- prune: deletes the oldest dead letters of one shard: those that exceed the age limit, and further ones until the memory limit is met.
-- KEYS 1 dead-letter stream
-- ARGV 1 age limit: dead letters from before this time are deleted, ms  2 memory limit, bytes  3 maximum number to delete
-- Returns {number deleted by age, number deleted by memory, list of the delivery ids}. The memory limit never deletes the newest one.
local ids = {}
local aged, large = 0, 0
while #ids < tonumber(ARGV[3]) do
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 2)
  if #oldest == 0 then break end
  local fields, id, died = oldest[1][2], '', 0
  for index = 1, #fields, 2 do
    if fields[index] == 'i' then id = fields[index + 1] end
    if fields[index] == 'd' then died = tonumber(fields[index + 1]) end
  end
  if died < tonumber(ARGV[1]) then
    aged = aged + 1
  elseif #oldest == 2 and redis.call('MEMORY', 'USAGE', KEYS[1], 'SAMPLES', 0) > tonumber(ARGV[2]) then
    large = large + 1
  else
    break
  end
  redis.call('XDEL', KEYS[1], oldest[1][1])
  ids[#ids + 1] = id
end
return {aged, large, ids}
