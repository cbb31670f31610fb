-- replay: puts a dead letter back to the ready stream, its id and key kept, its attempts counted anew.
-- KEYS 1 dead-letter stream  2 ready stream  3 delivery record
-- ARGV 1 entry id  2 1 to replay, 0 to delete for good
-- Answers 1 when it was there.
local entry = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])[1]
if not entry then return 0 end
if ARGV[2] == '1' then
  local field = {}
  for index = 1, #entry[2], 2 do field[entry[2][index]] = entry[2][index + 1] end
  redis.call('XADD', KEYS[2], '*', 'i', field['i'], 'k', field['k'], 'b', field['b'], 'a', field['a'], 'n', 0, 'h', field['h'])
  if redis.call('EXISTS', KEYS[3]) == 1 then redis.call('HSET', KEYS[3], 'state', 'accepted') end
end
redis.call('XDEL', KEYS[1], ARGV[1])
return 1
