-- bury: makes a dead letter of a leased entry that cannot be read, with every field that it has.
-- KEYS 1 ready stream  2 dead-letter stream  3 delivery record
--      if it keeps its order: 4 the line of its order key  5 delayed set  6 delayed payloads
-- ARGV 1 group  2 consumer  3 entry id  4 delivery count of the lease  5 delivery id that the letter has  6 what it says  7 now, ms
--      8 the record, written where there still is one  9 1 where it can never be put back  10 what the line knows it by
-- Answers 1 when done, -1 when the lease is lost or the entry is gone.
-- A script is not undone where it fails: the letter is written first.
local pending = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[3], 1)[1]
if not pending or pending[2] ~= ARGV[2] or pending[4] ~= tonumber(ARGV[4]) then return -1 end
local entry = redis.call('XRANGE', KEYS[1], ARGV[3], ARGV[3])[1]
if entry then
  local words, has = {'*'}, {}
  local function add(name, value)
    has[name] = true
    words[#words + 1], words[#words + 2] = name, value
  end
  add('i', ARGV[5])
  add('x', ARGV[6])
  add('d', ARGV[7])
  if ARGV[9] == '1' then add('f', '1') end
  local fields = entry[2]
  -- More than one command may have.
  if #fields > 1000 then fields = {'fields', cmsgpack.pack(fields)} end
  for index = 1, #fields, 2 do
    local name, value = fields[index], fields[index + 1]
    if not (name == 'i' and value == ARGV[5]) then add((has[name] or name == 'f') and 'own ' .. name or name, value) end
  end
  -- One that is put back must have them.
  if not has.n then add('n', '0') end
  if not has.h then add('h', '') end
  redis.call('XADD', KEYS[2], unpack(words))
  redis.call('SET', KEYS[3], ARGV[8], 'XX', 'KEEPTTL')
end
redis.call('XACK', KEYS[1], ARGV[1], ARGV[3])
redis.call('XDEL', KEYS[1], ARGV[3])
if KEYS[4] then finish(KEYS[4], KEYS[5], KEYS[6], KEYS[1], ARGV[10]) end
return entry and 1 or -1
