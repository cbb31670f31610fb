-- forget: removes the names of dead workers from a shard's group. A worker with leases keeps its name until they are reclaimed.
-- KEYS 1 ready stream
-- ARGV 1 group  2 time without a request after which a worker counts as dead, ms
-- Returns the number of removed names.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local consumers = redis.pcall('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])
if consumers.err then return 0 end
local count = 0
for _, consumer in ipairs(consumers) do
  local field = {}
  for index = 1, #consumer, 2 do field[consumer[index]] = consumer[index + 1] end
  if field['pending'] == 0 and field['idle'] > tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], field['name'])
    count = count + 1
  end
end
return count
