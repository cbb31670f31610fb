-- replay: puts a dead letter back into the queue with the same id and key, and counts its attempts from zero again; or deletes it.
-- KEYS 1 dead-letter stream  2 ready stream  3 delivery record  4 delayed set  5 delayed payloads
--      6 its order line, if the message keeps its order
-- ARGV 1 entry id  2 1 to replay, 0 to delete permanently  3 now, ms  4 record, which replaces an existing one
--      5 accepted or verified, see entersLine in form.lua  6 group
-- Returns 1 if it was replayed or deleted, else 0. A final dead letter (field f) is never replayed. One with unknown fields is replayed
-- only by a build that knows them.
local known = {i = true, k = true, b = true, a = true, n = true, h = true, o = true, r = true, x = true, d = true}
local entry = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])[1]
if not entry then return 0 end
if ARGV[2] == '1' then
  local field = {}
  for index = 1, #entry[2], 2 do field[entry[2][index]] = entry[2][index + 1] end
  for name in pairs(field) do
    if not known[name] then return 0 end
  end
  local words = {'*', 'i', field['i'], 'k', field['k'], 'b', field['b'], 'a', field['a'], 'n', 0, 'h', field['h']}
  if field['o'] then
    words[#words + 1] = 'o'
    words[#words + 1] = field['o']
  end
  if field['r'] then
    -- A message with a deadline is added to the delayed set as due now. take.lua moves it to the set by deadline.
    redis.call('ZADD', KEYS[4], ARGV[3], field['i'])
    redis.call('HSET', KEYS[5], field['i'], cmsgpack.pack({field['k'], field['b'], field['a'], 0, field['h'], false, field['r']}))
  elseif KEYS[6] and entersLine(KEYS[2], ARGV[6], ARGV[5]) and redis.call('RPUSH', KEYS[6], field['i']) > 1 then
    redis.call('ZADD', KEYS[4], '+inf', field['i'])
    redis.call('HSET', KEYS[5], field['i'], cmsgpack.pack({field['k'], field['b'], field['a'], 0, field['h'], field['o']}))
  else
    redis.call('XADD', KEYS[2], unpack(words))
  end
  redis.call('SET', KEYS[3], ARGV[4], 'XX', 'KEEPTTL')
end
redis.call('XDEL', KEYS[1], ARGV[1])
return 1
