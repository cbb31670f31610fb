-- renew: renews the leases that the worker has not lost.
-- KEYS 1 ready stream
-- ARGV 1 group  2 consumer  3… for each lease: entry id and delivery count
-- Returns the number of renewed leases.
local renewed = 0
for index = 3, #ARGV, 2 do
  local lease = redis.pcall('XPENDING', KEYS[1], ARGV[1], ARGV[index], ARGV[index], 1)[1]
  if lease and lease[2] == ARGV[2] and lease[4] == tonumber(ARGV[index + 1]) then
    redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[index], 'JUSTID')
    renewed = renewed + 1
  end
end
return renewed
