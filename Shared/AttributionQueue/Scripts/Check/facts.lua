-- facts: reads all data about one message at the same moment. Writes nothing.
-- KEYS 1 ready stream  2 delayed set  3 payloads  4 set by deadline  5 dead letters  6 suspects  7 delivery record
--      8 order line, if the message has one
-- ARGV 1 delivery id  2 last entry of the ready stream that the caller has read  3 last dead letter that the caller has read
--      4 maximum number of later entries to read  5 entry of the ready stream or empty  6 entry of the dead letters or empty  7 group
-- Returns a list:
--   1 due time or empty  2 deadline or empty  3 1 if there is a payload  4 index in the order line or -1  5 first id of the line or empty
--   6 record or empty  7 1 if the entry of the ready stream exists  8 1 if the dead letter exists
--   9 whether the message is in the later entries of the ready stream: 1 yes, 0 no, -1 there are more entries than were read
--   10 the same for the later dead letters  11 1 if the entry is suspected  12 1 if the entry is leased
local id, limit = ARGV[1], tonumber(ARGV[4])
local function isAfter(stream, last)
  local entries = redis.call('XRANGE', stream, '(' .. last, '+', 'COUNT', limit)
  for _, entry in ipairs(entries) do
    for word = 1, #entry[2], 2 do
      if entry[2][word] == 'i' and entry[2][word + 1] == id then return 1 end
    end
  end
  return #entries < limit and 0 or -1
end
local function exists(stream, entry)
  -- XRANGE fails if the text is not an entry id; then there is no such entry.
  local isRead, entries = pcall(redis.call, 'XRANGE', stream, entry, entry)
  return isRead and #entries or 0
end
local isLeased = 0
if ARGV[5] ~= '' then
  -- Without the stream or the group there are no leases.
  local pending = redis.pcall('XPENDING', KEYS[1], ARGV[7], ARGV[5], ARGV[5], 1)
  if not pending['err'] then isLeased = #pending end
end
return {
  redis.call('ZSCORE', KEYS[2], id) or '', redis.call('ZSCORE', KEYS[4], id) or '', redis.call('HEXISTS', KEYS[3], id),
  KEYS[8] and redis.call('LPOS', KEYS[8], id) or -1, KEYS[8] and redis.call('LINDEX', KEYS[8], 0) or '',
  redis.call('GET', KEYS[7]) or '', exists(KEYS[1], ARGV[5]), exists(KEYS[5], ARGV[6]), isAfter(KEYS[1], ARGV[2]),
  isAfter(KEYS[5], ARGV[3]), redis.call('HEXISTS', KEYS[6], ARGV[5]), isLeased,
}
