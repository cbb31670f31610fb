-- renew: renews the leases that the worker still holds.
-- KEYS 1 ready stream
-- ARGV 1 group  2 consumer  3… for each lease: entry id and delivery count
-- Returns the number of renewed leases.
local renewed = 0
for place = 3, #ARGV, 2 do
  local lease = redis.pcall('XPENDING', KEYS[1], ARGV[1], ARGV[place], ARGV[place], 1)[1]
  if lease and lease[2] == ARGV[2] and lease[4] == tonumber(ARGV[place + 1]) then
    redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[place], 'JUSTID')
    renewed = renewed + 1
  end
end
return renewed
