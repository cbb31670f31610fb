-- facts: reads all data about one message at the same moment. Writes nothing.
-- KEYS 1 ready stream  2 delayed set  3 payloads  4 set by deadline  5 dead letters  6 suspects  7 delivery record
--      8 a line, where it is asked about
-- ARGV 1 delivery id  2 entry id up to which the ready stream is known, which may be what is asked about  3 the same of the dead letters
--      4 how many entries behind these to look at  5 entry of the ready stream or empty  6 entry of the dead letters or empty  7 group
-- Returns {when it is due or empty, its deadline or empty, 1 when it has a payload, its place in the line or -1, the line's first or
-- empty, the record or empty, 1 when the entry of the ready stream is there, 1 when that of the dead letters is, behind what is known of
-- the ready stream and of the dead letters: 1 when it is there, 0 when it is not, -1 when there is more than was looked at, 1 when the
-- entry is suspected, 1 when it is leased}.
local id, bound = ARGV[1], tonumber(ARGV[4])
local function behind(stream, known)
  local entries = redis.call('XRANGE', stream, '(' .. known, '+', 'COUNT', bound)
  for _, entry in ipairs(entries) do
    for word = 1, #entry[2], 2 do
      if entry[2][word] == 'i' and entry[2][word + 1] == id then return 1 end
    end
  end
  return #entries < bound and 0 or -1
end
local function isThere(stream, entry)
  -- What is no entry's id is none.
  local isRead, entries = pcall(redis.call, 'XRANGE', stream, entry, entry)
  return isRead and #entries or 0
end
local isLeased = 0
if ARGV[5] ~= '' then
  -- A stream without the group, or none, has no leases.
  local pending = redis.pcall('XPENDING', KEYS[1], ARGV[7], ARGV[5], ARGV[5], 1)
  if not pending['err'] then isLeased = #pending end
end
return {
  redis.call('ZSCORE', KEYS[2], id) or '', redis.call('ZSCORE', KEYS[4], id) or '', redis.call('HEXISTS', KEYS[3], id),
  KEYS[8] and redis.call('LPOS', KEYS[8], id) or -1, KEYS[8] and redis.call('LINDEX', KEYS[8], 0) or '',
  redis.call('GET', KEYS[7]) or '', isThere(KEYS[1], ARGV[5]), isThere(KEYS[5], ARGV[6]), behind(KEYS[1], ARGV[2]),
  behind(KEYS[5], ARGV[3]), redis.call('HEXISTS', KEYS[6], ARGV[5]), isLeased,
}
