-- find_rejected: finds rejected deliveries whose bodies are stored.
-- KEYS 1 bodies  2 index
-- ARGV 1 the word ids, then delivery ids; or
--      1 the word select  2 kind, or empty for any  3 reason, or empty for any  4 and 5 the time from which on and before which they were
--      rejected, ms, 13 digits  6 the index entry after which the list begins, or empty  7 maximum number
-- Returns a list with {delivery id, kind, envelope, order line or empty, reason, event id, index entry} for each; those that are not stored
-- are left out. A selection is in the order of the index.
local found = {}
local function add(id)
  local packed = redis.call('HGET', KEYS[1], id)
  if not packed then return end
  local field = cmsgpack.unpack(packed)
  found[#found + 1] = {id, field[1], field[3], field[6] or '', field[8], field[9], field[10]}
end
if ARGV[1] == 'ids' then
  for argument = 2, #ARGV do add(ARGV[argument]) end
  return found
end
local start, limit = tonumber(ARGV[4]), tonumber(ARGV[7])
local position = ARGV[6] == '' and '-' or '(' .. ARGV[6]
-- Goes from class to class, so that entries of classes that are not wanted are not read.
while #found < limit do
  local first = redis.call('ZRANGEBYLEX', KEYS[2], position, '+', 'LIMIT', 0, 1)[1]
  if not first then break end
  local class, time = partsOf(first)
  if class then
    local kind, reason = string.match(class, '^(%S*) (%S*) ')
    if (ARGV[2] == '' or ARGV[2] == kind) and (ARGV[3] == '' or ARGV[3] == reason) then
      local from = tonumber(time) >= start and '[' .. first or '[' .. class .. ' ' .. ARGV[4]
      local entries = redis.call('ZRANGEBYLEX', KEYS[2], from, '(' .. class .. ' ' .. ARGV[5], 'LIMIT', 0, limit - #found)
      for _, entry in ipairs(entries) do
        local _, _, id = partsOf(entry)
        add(id or '')
      end
    end
    position = '(' .. class .. '!'
  else
    position = '(' .. first
  end
end
return found
