-- seek: sets the position of a subscription in one shard. Events after the position are read again, even if they were read before.
-- KEYS 1 events stream  2 positions of pushed subscriptions
-- ARGV 1 subscription  2 new position, an entry id; $: after all events
--      3 number of events added to the stream up to that position (ENTRIESREAD); empty if unknown
--      4 generation; empty for a pulled subscription  5: 1 = do not change an existing position of a pulled subscription
-- Changes nothing if a pushed subscription already has a position of this generation or a later one.
-- Returns 1 if the position was set, else 0.
local stream, positions, name, id, read = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
local generation, keepsExisting = ARGV[4], ARGV[5] == '1'
if generation == '' then
  if not keepsExisting then redis.pcall('XGROUP', 'DESTROY', stream, name) end
  local arguments = {'CREATE', stream, name, id, 'MKSTREAM'}
  if read ~= '' then arguments[#arguments + 1], arguments[#arguments + 2] = 'ENTRIESREAD', read end
  local reply = redis.pcall('XGROUP', unpack(arguments))
  if type(reply) == 'table' and reply['err'] then
    if keepsExisting and string.find(reply['err'], 'BUSYGROUP', 1, true) then return 0 end
    return redis.error_reply(reply['err'])
  end
  return 1
end
local stored = redis.call('HGET', positions, name)
if stored and (tonumber(string.match(stored, '^%S+') or '') or 0) >= tonumber(generation) then return 0 end
local info, last, added, length = redis.pcall('XINFO', 'STREAM', stream), '0-0', 0, 0
for index = 1, info['err'] and 0 or #info, 2 do
  if info[index] == 'last-generated-id' then last = info[index + 1] end
  if info[index] == 'entries-added' then added = info[index + 1] end
  if info[index] == 'length' then length = info[index + 1] end
end
if id == '$' then id, read = last, added elseif read == '' then read = added - length end
redis.call('HSET', positions, name, generation .. ' ' .. id .. ' ' .. read)
return 1
