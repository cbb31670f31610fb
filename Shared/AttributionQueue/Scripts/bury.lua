-- bury: makes a dead letter of a leased entry that cannot be read, with every field that it has.
-- KEYS 1 ready stream  2 dead-letter stream  3 delivery record
--      if it keeps its order: 4 the line of its order key  5 delayed set  6 delayed payloads
-- ARGV 1 group  2 consumer  3 entry id  4 delivery id that the letter has  5 what it says  6 now, ms
--      7 the record, written where there still is one  8 1 where it can never be put back  9 what the line knows it by
-- Answers 1 when done, -1 when the lease is lost.
local pending = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[3], 1)[1]
if not pending or pending[2] ~= ARGV[2] then return -1 end
local entry = redis.call('XRANGE', KEYS[1], ARGV[3], ARGV[3])[1]
redis.call('XACK', KEYS[1], ARGV[1], ARGV[3])
redis.call('XDEL', KEYS[1], ARGV[3])
if KEYS[4] then finish(KEYS[4], KEYS[5], KEYS[6], KEYS[1], ARGV[9]) end
if not entry then return 1 end
local words = {'*', 'i', ARGV[4], 'x', ARGV[5], 'd', ARGV[6]}
-- Those above, and what a letter that is put back must have.
local has = {i = true, x = true, d = true, f = true, n = false, h = false}
for index = 1, #entry[2], 2 do
  local name = entry[2][index]
  if not has[name] then
    has[name] = true
    words[#words + 1] = name
    words[#words + 1] = entry[2][index + 1]
  end
end
if not has.n then words[#words + 1], words[#words + 2] = 'n', '0' end
if not has.h then words[#words + 1], words[#words + 2] = 'h', '' end
if ARGV[8] == '1' then words[#words + 1], words[#words + 2] = 'f', '1' end
redis.call('XADD', KEYS[2], unpack(words))
redis.call('SET', KEYS[3], ARGV[7], 'XX', 'KEEPTTL')
return 1
