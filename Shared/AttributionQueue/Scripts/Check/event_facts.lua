-- event_facts: reads an event and its index entry at the same moment. Writes nothing.
-- KEYS 1 events  2 events index
-- ARGV 1 the event's id  2 an entry of the stream
-- Returns {entry according to the index, or empty; id of the event in the given entry, or empty; id of the event in the entry according to
-- the index, or empty}.
local function id(place)
  local isRead, entries = pcall(redis.call, 'XRANGE', KEYS[1], place, place)
  local fields = isRead and entries[1] and entries[1][2] or {}
  for word = 1, #fields, 2 do
    if fields[word] == 'i' then return fields[word + 1] end
  end
  return ''
end
local place = redis.call('HGET', KEYS[2], ARGV[1]) or ''
return {place, id(ARGV[2]), place ~= '' and id(place) or ''}
