-- event_facts: reads an event and its index entry at the same moment. Writes nothing.
-- KEYS 1 events  2 events index
-- ARGV 1 the event's id  2 the entry to examine
-- Returns {the event's entry according to the index, id of the event in the entry to examine, id of the event in the entry according to the
-- index}, each empty if there is none.
local function eventId(entry)
  local isRead, entries = pcall(redis.call, 'XRANGE', KEYS[1], entry, entry)
  local fields = isRead and entries[1] and entries[1][2] or {}
  for word = 1, #fields, 2 do
    if fields[word] == 'i' then return fields[word + 1] end
  end
  return ''
end
local indexed = redis.call('HGET', KEYS[2], ARGV[1]) or ''
return {indexed, eventId(ARGV[2]), indexed ~= '' and eventId(indexed) or ''}
