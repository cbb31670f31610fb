-- A prefix of scripts that store or remove bodies of rejected deliveries. Those of a shard are in three keys:
--   bodies: a hash by delivery id. A value is a payload (accept.lua) with three more elements: reason, id of the rejection's event, index entry
--   index: a sorted set with equal scores, so that it is sorted by its entries: class, time of the rejection (ms, 13 digits) and delivery id,
--     divided by spaces. A class is kind, reason and environment, divided by spaces; the environment is empty unless Apple signed the delivery.
--   sizes: a hash: the bytes of each class
-- Redis' own memory for a body: entries of the hash and of the index, bytes.
local overhead = 400
-- partsOf: the class, the time and the delivery id of an index entry.
local function partsOf(entry) return string.match(entry, '^(%S* %S* %S*) (%d+) (%S+)$') end
-- removeRejected: removes a body by its index entry. Returns its bytes.
local function removeRejected(bodies, index, sizes, entry)
  local class, _, id = partsOf(entry)
  redis.call('ZREM', index, entry)
  if not class then return 0 end
  local size = redis.call('HSTRLEN', bodies, id) + overhead
  redis.call('HDEL', bodies, id)
  if redis.call('HINCRBY', sizes, class, -size) <= 0 then redis.call('HDEL', sizes, class) end
  return size
end
-- keepRejected: stores the body of a rejected delivery in place of an earlier one. Above the limit, the oldest bodies of the largest class are
-- dropped, so that a flood of one kind of forgeries drops the bodies of that kind only. A body whose entry has no class is not stored, because an
-- error here would keep the whole batch from being settled. Returns how many were dropped.
local function keepRejected(bodies, index, sizes, id, entry, packed, limit)
  local call = redis.call
  local earlier = call('HGET', bodies, id)
  if earlier then removeRejected(bodies, index, sizes, cmsgpack.unpack(earlier)[10]) end
  local size, class = #packed + overhead, partsOf(entry)
  if not class or size > limit then return 1 end
  call('HSET', bodies, id, packed)
  call('ZADD', index, 0, entry)
  call('HINCRBY', sizes, class, size)
  local list, bytes, total = call('HGETALL', sizes), {}, 0
  for word = 1, #list, 2 do
    bytes[list[word]] = tonumber(list[word + 1])
    total = total + bytes[list[word]]
  end
  local dropped = 0
  while total > limit do
    local largest
    for class, count in pairs(bytes) do
      if not largest or count > bytes[largest] then largest = class end
    end
    if not largest then break end
    -- The entries that begin with the class and a space: ! is the character after the space.
    local oldest = call('ZRANGEBYLEX', index, '[' .. largest .. ' ', '(' .. largest .. '!', 'LIMIT', 0, 1)[1]
    if oldest then
      size = removeRejected(bodies, index, sizes, oldest)
      dropped = dropped + 1
    else
      -- The keys were changed by hand.
      call('HDEL', sizes, largest)
      size = bytes[largest]
    end
    total = total - size
    bytes[largest] = bytes[largest] > size and bytes[largest] - size or nil
  end
  return dropped
end
