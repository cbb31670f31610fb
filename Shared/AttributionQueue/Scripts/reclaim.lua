-- reclaim: takes over messages whose lease ran out; those taken too often become dead letters (each time the process died).
-- KEYS 1 ready stream  2 dead-letter stream
-- ARGV 1 group  2 consumer  3 lease, ms  4 how many at the most  5 deliveries at the most  6 now, ms
-- Answers a list of {entry id, delivery count, fields}; fields is the id of the delivery alone for one that died.
local claimed = redis.call('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], '0-0', 'COUNT', ARGV[4])[2]
local answer = {}
for _, entry in ipairs(claimed) do
  local pending = redis.call('XPENDING', KEYS[1], ARGV[1], entry[1], entry[1], 1)
  local count = pending[1][4]
  if count > tonumber(ARGV[5]) then
    local words = {'XADD', KEYS[2], '*'}
    for index = 1, #entry[2] do words[#words + 1] = entry[2][index] end
    words[#words + 1] = 'x'
    words[#words + 1] = 'its worker ended ' .. (count - 1) .. ' times without finishing it'
    words[#words + 1] = 'd'
    words[#words + 1] = ARGV[6]
    redis.call(unpack(words))
    redis.call('XACK', KEYS[1], ARGV[1], entry[1])
    redis.call('XDEL', KEYS[1], entry[1])
    answer[#answer + 1] = {entry[1], count, entry[2][2]}
  else
    answer[#answer + 1] = {entry[1], count, entry[2]}
  end
end
return answer
