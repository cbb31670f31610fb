-- pull: takes events of one shard for a subscription: first those whose lease ran out, then new ones. A consumer's name is its
-- lease in milliseconds, so that leases of different length stand side by side.
-- KEYS 1 events stream
-- ARGV 1 group  2 lease, ms  3 how many at the most  4… types; none means all
-- Answers a list of {entry id, event JSON}, or -1 when the subscription has no group here.
local wanted = {}
for index = 4, #ARGV do wanted[ARGV[index]] = true end
local all = #ARGV < 4
local most = tonumber(ARGV[3])
local answer = {}
local pending = redis.pcall('XPENDING', KEYS[1], ARGV[1], 'IDLE', 1000, '-', '+', most * 4)
if pending['err'] then return -1 end
for _, entry in ipairs(pending) do
  if #answer >= most then break end
  if entry[3] >= tonumber(entry[2]) then
    local claimed = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], entry[2], entry[1])
    for _, one in ipairs(claimed) do
      if one and one[2] then answer[#answer + 1] = {one[1], one[2][6]} end
    end
  end
end
while #answer < most do
  local read = redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', most - #answer, 'STREAMS', KEYS[1], '>')
  if not read then break end
  for _, entry in ipairs(read[1][2]) do
    if all or wanted[entry[2][4]] then
      answer[#answer + 1] = {entry[1], entry[2][6]}
    else
      redis.call('XACK', KEYS[1], ARGV[1], entry[1])
    end
  end
end
return answer
