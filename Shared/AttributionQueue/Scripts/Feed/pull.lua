-- pull: leases events of one shard for a subscription: first those whose lease expired or that were given back, then new ones. A
-- consumer's name is its lease in milliseconds, so that leases of different lengths can coexist; the consumer 0 has events that can be
-- leased immediately.
-- KEYS 1 events stream
-- ARGV 1 group  2 lease, ms  3 maximum number of events  4 maximum number of unwanted events to skip  5 filter in MessagePack; empty: all
--      6 maximum number of leases, if the events of a subject are delivered in order; 0: in any order
-- Returns {1 if there may be more after the skipped events, list of {entry id, event JSON, how often it was leased}, the last id that the
-- stream has assigned}, or -1 if the subscription has no group in this shard. The last id is returned only if the subscription has read the
-- whole stream and has no leases.
local stream, group, lease, most = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local passable, wants, leases = tonumber(ARGV[4]), makeFilter(ARGV[5]), tonumber(ARGV[6])
local answer = {}
local consumers = redis.pcall('XINFO', 'CONSUMERS', stream, group)
if consumers['err'] then return -1 end

-- The answer. It has the stream's last id if pulls find nothing until another event is added.
local function finished(passed, pending)
  if passed >= passable or #answer > 0 or pending > 0 then return {passed >= passable and 1 or 0, answer} end
  local info = fieldsOf(redis.call('XINFO', 'STREAM', stream))
  return {0, answer, info['last-generated-id']}
end

local function subject(field)
  describe(field)
  for _, name in ipairs({'n', 'b', 'p'}) do
    if field[name] and field[name] ~= '' then return field[name] end
  end
end

-- Leases the events of a subject in order, and only while no earlier event of the subject is leased. One call may lease several of them.
local function inOrder()
  local blocked, waiting, pending = {}, {}, redis.call('XPENDING', stream, group, '-', '+', leases)
  local function take(id, field, times)
    local name = subject(field)
    if name and blocked[name] then return false end
    if #answer >= most then
      -- Later events of its subject must wait.
      if name then blocked[name] = true end
      return false
    end
    redis.call('XCLAIM', stream, group, lease, 0, id)
    answer[#answer + 1] = {id, field.e, times + 1}
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
  local passed, held = 0, #pending
  while #answer < most and held < leases and passed < passable do
    local read = redis.call('XREADGROUP', 'GROUP', group, '0', 'COUNT', 1, 'STREAMS', stream, '>')
    if not read then break end
    local entry = read[1][2][1]
    local field = fieldsOf(entry[2])
    if wants and not wants(field) then
      redis.call('XACK', stream, group, entry[1])
      passed = passed + 1
    else
      held = held + 1
      -- Reading counted as its first lease.
      take(entry[1], field, 1)
    end
  end
  return finished(passed, held)
end

if leases > 0 then return inOrder() end

local held = 0
for _, info in ipairs(consumers) do
  local consumer = fieldsOf(info)
  held = held + consumer['pending']
  if #answer < most and consumer['pending'] > 0 then
    local ended = redis.call('XPENDING', stream, group, 'IDLE', consumer['name'], '-', '+', most - #answer, consumer['name'])
    for _, entry in ipairs(ended) do
      local claimed = redis.call('XCLAIM', stream, group, lease, consumer['name'], entry[1])
      for _, one in ipairs(claimed) do
        if one and one[2] then answer[#answer + 1] = {one[1], one[2][6], entry[4] + 1} end
      end
    end
  end
end
local passed = 0
while #answer < most do
  if passed >= passable then return {1, answer} end
  if not wants then
    local read = redis.call('XREADGROUP', 'GROUP', group, lease, 'COUNT', most - #answer, 'STREAMS', stream, '>')
    if not read then break end
    for _, entry in ipairs(read[1][2]) do answer[#answer + 1] = {entry[1], entry[2][6], 1} end
  else
    -- Entries are read without a lease, so that skipping unwanted events costs only one change of the group's position. Wanted events are
    -- leased here.
    local read = redis.call(
      'XREADGROUP', 'GROUP', group, lease, 'COUNT', math.max(32, most - #answer), 'NOACK', 'STREAMS', stream, '>')
    if not read then break end
    for _, entry in ipairs(read[1][2]) do
      local field = fieldsOf(entry[2])
      if wants(field) then
        -- The next pull can lease events beyond the requested number immediately.
        local taker = #answer < most and lease or '0'
        redis.call('XCLAIM', stream, group, taker, 0, entry[1], 'RETRYCOUNT', 1, 'FORCE', 'JUSTID')
        if #answer < most then answer[#answer + 1] = {entry[1], field.e, 1} else passed = passable end
      else
        passed = passed + 1
      end
    end
  end
end
return finished(passed, held)
