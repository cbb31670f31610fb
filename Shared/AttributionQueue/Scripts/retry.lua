-- retry: puts a leased message among the delayed ones, or among the dead letters, if the worker still holds the lease.
-- KEYS 1 ready stream  2 delayed set  3 delayed payloads  4 dead-letter stream  5 delivery record
--      6 line of its order key, if it keeps its order: it stays the first of it until it is finished
-- ARGV 1 group  2 consumer  3 entry id  4 delivery count of the lease  5 due, ms; -1 dead letter; -2 give back at once, untouched;
--      other negative numbers: delay until so many ms, untouched
--      6 delivery id  7 error  8 now, ms  9 record expiry, seconds  10 the record, where the message is not left untouched
-- Answers 1 when done, -1 when the lease is lost.
local longest = 4096
local pending = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[3], 1)
if #pending == 0 or pending[1][2] ~= ARGV[2] or pending[1][4] ~= tonumber(ARGV[4]) then return -1 end
local entry = redis.call('XRANGE', KEYS[1], ARGV[3], ARGV[3])[1]
if not entry then
  redis.call('XACK', KEYS[1], ARGV[1], ARGV[3])
  if KEYS[6] then finish(KEYS[6], KEYS[2], KEYS[3], KEYS[1], ARGV[6]) end
  return 1
end
local field = {n = 0, h = ''}
for index = 1, #entry[2], 2 do field[entry[2][index]] = entry[2][index + 1] end
local due = tonumber(ARGV[5])
-- Take-overs from workers that died were attempts too.
local attempts = tonumber(field['n']) + tonumber(ARGV[4]) - 1
local history = field['h']
if due >= -1 then
  attempts = attempts + 1
  history = history .. ARGV[8] .. ' ' .. ARGV[7] .. '\n'
  -- The newest of it: a message may be put off for days.
  if #history > longest then history = string.gsub(string.sub(history, -longest), '^[^\n]*\n', '') end
  redis.call('SET', KEYS[5], ARGV[10], 'EX', ARGV[9])
end
if due < -2 then due = -due end
local line, deadline = field['o'], field['r']
-- One with a deadline waits among the delayed ones even if it is due: from there it is put back in its place by deadline.
if due == -2 and deadline then due = tonumber(ARGV[8]) end
redis.call('XACK', KEYS[1], ARGV[1], ARGV[3])
redis.call('XDEL', KEYS[1], ARGV[3])
if due >= 0 then
  redis.call('ZADD', KEYS[2], due, field['i'])
  redis.call('HSET', KEYS[3], field['i'], cmsgpack.pack({field['k'], field['b'], field['a'], attempts, history, line or false, deadline}))
  return 1
end
local words = {'*', 'i', field['i'], 'k', field['k'], 'b', field['b'], 'a', field['a'], 'n', attempts, 'h', history}
if line then
  words[#words + 1] = 'o'
  words[#words + 1] = line
end
if due == -2 then
  redis.call('XADD', KEYS[1], unpack(words))
  return 1
end
for _, word in ipairs({'x', ARGV[7], 'd', ARGV[8]}) do words[#words + 1] = word end
if deadline then
  words[#words + 1] = 'r'
  words[#words + 1] = deadline
end
redis.call('XADD', KEYS[4], unpack(words))
if line then finish(KEYS[6], KEYS[2], KEYS[3], KEYS[1], field['i']) end
return 1
