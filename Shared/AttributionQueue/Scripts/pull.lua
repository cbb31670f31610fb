-- pull: takes events of one shard for a subscription: first those whose lease ran out, then new ones. A consumer's name is its
-- lease in milliseconds, so that leases of different length stand side by side.
-- KEYS 1 events stream
-- ARGV 1 group  2 lease, ms  3 how many at the most  4 how many unwanted ones to pass at the most  5… types; none means all
-- Answers {1 when there may be more behind what was passed, list of {entry id, event JSON}}, or -1 when the subscription has no
-- group here.
local wanted = {}
for index = 5, #ARGV do wanted[ARGV[index]] = true end
local all = #ARGV < 5
local most = tonumber(ARGV[3])
local answer = {}
local consumers = redis.pcall('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])
if consumers['err'] then return -1 end
for _, info in ipairs(consumers) do
  local consumer = {}
  for index = 1, #info, 2 do consumer[info[index]] = info[index + 1] end
  if #answer < most and consumer['pending'] > 0 then
    local ended = redis.call('XPENDING', KEYS[1], ARGV[1], 'IDLE', consumer['name'], '-', '+', most - #answer, consumer['name'])
    for _, entry in ipairs(ended) do
      local claimed = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], consumer['name'], entry[1])
      for _, one in ipairs(claimed) do
        if one and one[2] then answer[#answer + 1] = {one[1], one[2][6]} end
      end
    end
  end
end
local passed = 0
while #answer < most do
  if passed >= tonumber(ARGV[4]) then return {1, answer} end
  local read = redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', most - #answer, 'STREAMS', KEYS[1], '>')
  if not read then break end
  for _, entry in ipairs(read[1][2]) do
    if all or wanted[entry[2][4]] then
      answer[#answer + 1] = {entry[1], entry[2][6]}
    else
      passed = passed + 1
      redis.call('XACK', KEYS[1], ARGV[1], entry[1])
    end
  end
end
return {0, answer}
