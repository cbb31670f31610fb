-- pull: leases events of one shard for a pulled subscription, which is a consumer group of the events stream: first events whose lease
-- expired or that were given back, then new ones. A consumer's name is the length of its leases in milliseconds, so that leases of
-- different lengths can coexist. Events of the consumer 0 can be leased immediately.
-- KEYS 1 events stream
-- ARGV 1 group  2 lease, ms  3 maximum number of events  4 maximum number of unwanted events to skip  5 filter in MessagePack; empty: all
--      6 0: events are leased in any order. Otherwise the events of a subject are leased in order, and this is the maximum number of leased
--      events in the shard
-- Returns -1 if the subscription has no group in this shard, else {1 if there may be more events after the skipped ones, list of {entry id,
-- event JSON, delivery count}, the last id that the stream has assigned}. The delivery count of an entry identifies its lease; it is not
-- the number of leases: in order, the first lease returns 2, because reading counts too. The last id is left out unless the subscription
-- has read the whole stream and has no leased event.
local stream, group, lease, limit = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local maxSkipped, wants, maxLeases = tonumber(ARGV[4]), makeFilter(ARGV[5]), tonumber(ARGV[6])
local answer = {}
local consumers = redis.pcall('XINFO', 'CONSUMERS', stream, group)
if consumers['err'] then return -1 end
-- Consumers of lengths without leases are removed, so that there are only those of the lengths in use, this one, and 0.
for _, info in ipairs(consumers) do
  local consumer = fieldsOf(info)
  local name = consumer['name']
  if consumer['pending'] == 0 and name ~= lease and name ~= '0' then redis.call('XGROUP', 'DELCONSUMER', stream, group, name) end
end

-- The reply. It contains the stream's last id if later pulls find nothing until another event is added.
local function finished(skipped, pending)
  if skipped >= maxSkipped or #answer > 0 or pending > 0 then return {skipped >= maxSkipped and 1 or 0, answer} end
  local info = fieldsOf(redis.call('XINFO', 'STREAM', stream))
  return {0, answer, info['last-generated-id']}
end

local function subject(field)
  addAttributes(field)
  for _, name in ipairs({'n', 'b', 'p'}) do
    if field[name] and field[name] ~= '' then return field[name] end
  end
end

-- Leases the events of a subject in order, and only while no earlier event of the subject is leased. One call may lease several of them.
local function inOrder()
  local blocked, waiting, pending = {}, {}, redis.call('XPENDING', stream, group, '-', '+', maxLeases)
  local function take(id, field, delivered)
    local name = subject(field)
    if name and blocked[name] then return false end
    if #answer >= limit then
      -- Later events of its subject must wait.
      if name then blocked[name] = true end
      return false
    end
    redis.call('XCLAIM', stream, group, lease, 0, id)
    answer[#answer + 1] = {id, field.e, delivered + 1}
    return true
  end
  for _, entry in ipairs(pending) do
    local found = redis.call('XRANGE', stream, entry[1], entry[1])[1]
    if not found then
      redis.call('XACK', stream, group, entry[1])
    else
      local field = fieldsOf(found[2])
      if entry[3] >= tonumber(entry[2]) then
        waiting[#waiting + 1] = {entry[1], field, entry[4]}
      else
        local name = subject(field)
        if name then blocked[name] = true end
      end
    end
  end
  for _, entry in ipairs(waiting) do take(entry[1], entry[2], entry[3]) end
  local skipped, leased = 0, #pending
  while #answer < limit and leased < maxLeases and skipped < maxSkipped do
    local read = redis.call('XREADGROUP', 'GROUP', group, '0', 'COUNT', 1, 'STREAMS', stream, '>')
    if not read then break end
    local entry = read[1][2][1]
    local field = fieldsOf(entry[2])
    if wants and not wants(field) then
      redis.call('XACK', stream, group, entry[1])
      skipped = skipped + 1
    else
      leased = leased + 1
      -- Reading has set its delivery count to 1.
      take(entry[1], field, 1)
    end
  end
  return finished(skipped, leased)
end

if maxLeases > 0 then return inOrder() end

local leased = 0
for _, info in ipairs(consumers) do
  local consumer = fieldsOf(info)
  leased = leased + consumer['pending']
  if #answer < limit and consumer['pending'] > 0 then
    local ended = redis.call('XPENDING', stream, group, 'IDLE', consumer['name'], '-', '+', limit - #answer, consumer['name'])
    for _, entry in ipairs(ended) do
      local claimed = redis.call('XCLAIM', stream, group, lease, consumer['name'], entry[1])
      -- The sixth word of an entry is the event's JSON (EventRecord+StreamFields.swift).
      for _, one in ipairs(claimed) do
        if one and one[2] then answer[#answer + 1] = {one[1], one[2][6], entry[4] + 1} end
      end
    end
  end
end
local skipped = 0
while #answer < limit do
  if skipped >= maxSkipped then return {1, answer} end
  if not wants then
    local read = redis.call('XREADGROUP', 'GROUP', group, lease, 'COUNT', limit - #answer, 'STREAMS', stream, '>')
    if not read then break end
    for _, entry in ipairs(read[1][2]) do answer[#answer + 1] = {entry[1], entry[2][6], 1} end
  else
    -- Entries are read without a lease (NOACK), so that skipping unwanted events only changes the group's position. XCLAIM then leases the
    -- wanted ones.
    local read = redis.call(
      'XREADGROUP', 'GROUP', group, lease, 'COUNT', math.max(32, limit - #answer), 'NOACK', 'STREAMS', stream, '>')
    if not read then break end
    for _, entry in ipairs(read[1][2]) do
      local field = fieldsOf(entry[2])
      if wants(field) then
        -- Wanted events beyond the requested number go to the consumer 0, so that the next pull can lease them immediately.
        local consumer = #answer < limit and lease or '0'
        redis.call('XCLAIM', stream, group, consumer, 0, entry[1], 'RETRYCOUNT', 1, 'FORCE', 'JUSTID')
        if #answer < limit then answer[#answer + 1] = {entry[1], field.e, 1} else skipped = maxSkipped end
      else
        skipped = skipped + 1
      end
    end
  end
end
return finished(skipped, leased)
