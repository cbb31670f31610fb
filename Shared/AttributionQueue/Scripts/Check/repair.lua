-- repair: repairs one fault, if it still exists. The rules, and what breaks each, are described in Check/Rules/StoreRule.swift.
-- KEYS 1 ready stream  2 delayed set  3 payloads  4 set by deadline  5 suspects  6 events  7 events index
--      8 order line, if the fault is about one
-- ARGV 1 broken rule, a raw value of StoreRule  2 delivery or event id  3 entry of the ready stream or the events, or empty  4 now, ms
--      5 group
-- Returns 1 if the fault was repaired, 0 if it no longer exists.
local rule, id, entry, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local ready, delayed, payloads, deadlines, suspects, events, index, line = unpack(KEYS)

-- Makes the message due now, or when the message before it in its order line is finished.
local function wait()
  if line and not redis.call('LPOS', line, id) then redis.call('RPUSH', line, id) end
  local isFirst = not line or redis.call('LINDEX', line, 0) == id
  redis.call('ZADD', delayed, isFirst and now or '+inf', id)
  return 1
end

local hasPayload = redis.call('HEXISTS', payloads, id) == 1
local due = redis.call('ZSCORE', delayed, id)
local isWaiting = due or redis.call('ZSCORE', deadlines, id)

if rule == 'orphaned_payload' then
  return hasPayload and not isWaiting and wait() or 0
elseif rule == 'waits_outside_line' then
  return hasPayload and due == 'inf' and not (line and redis.call('LPOS', line, id)) and wait() or 0
elseif rule == 'waits_as_first' then
  return hasPayload and due == 'inf' and redis.call('LINDEX', line, 0) == id and wait() or 0
elseif rule == 'missing_payload' then
  if hasPayload then return 0 end
  return redis.call('ZREM', delayed, id) + redis.call('ZREM', deadlines, id) > 0 and 1 or 0
elseif rule == 'line_of_nothing' then
  if hasPayload or isWaiting or not redis.call('LPOS', line, id) then return 0 end
  finish(line, delayed, payloads, ready, id)
  return 1
elseif rule == 'suspect_of_nothing' or rule == 'lease_of_nothing' then
  local isRead, entries = pcall(redis.call, 'XRANGE', ready, entry, entry)
  if isRead and #entries > 0 then return 0 end
  if rule == 'suspect_of_nothing' then return redis.call('HDEL', suspects, entry) end
  return redis.call('XACK', ready, ARGV[5], entry)
end

-- True if the entry of the events stream is the event.
local function holdsEvent(entryId)
  local isRead, entries = pcall(redis.call, 'XRANGE', events, entryId, entryId)
  local fields = isRead and entries[1] and entries[1][2] or {}
  for word = 1, #fields, 2 do
    if fields[word] == 'i' then return fields[word + 1] == id end
  end
  return false
end

local indexed = redis.call('HGET', index, id)
if rule == 'event_without_index' then
  if not holdsEvent(entry) or indexed and holdsEvent(indexed) then return 0 end
  redis.call('HSET', index, id, entry)
  return 1
elseif rule == 'index_without_event' then
  return indexed and not holdsEvent(indexed) and redis.call('HDEL', index, id) or 0
end
return 0
