-- A prefix of scripts that filter events.
-- A filter is a map of lists in MessagePack: types, adNetworkIds, apps, environments. A missing list admits everything.
local function fieldsOf(words)
  local field = {}
  for index = 1, #words, 2 do field[words[index]] = words[index + 1] end
  return field
end

local function text(value)
  if type(value) == 'string' then return value end
  if type(value) == 'number' then return string.format('%.0f', value) end
  return ''
end

local function member(value, ...)
  for _, name in ipairs({...}) do
    if type(value) ~= 'table' then return nil end
    value = value[name]
  end
  return value
end

-- Adds the attributes of an event that an older build stored without them: n the ad network, p the app's Apple id, b its bundle id, v the
-- environment. It reads them from the event's JSON, by the same rule as EventAttributes+Description.swift. An event with v has them all.
local function addAttributes(field)
  if field.v or not field.e then return end
  field.n, field.p, field.b, field.v = '', '', '', ''
  local isRead, event = pcall(cjson.decode, field.e)
  if not isRead then return end
  local data, subject, kind = member(event, 'data'), text(member(event, 'subject')), field.t or ''
  if string.sub(kind, 1, 24) == 'attribution.skadnetwork.' or string.sub(kind, 1, 29) == 'attribution.adattributionkit.' then
    field.n = string.lower(subject)
    field.p = text(member(data, 'postback', 'app-id'))
    if field.p == '' then field.p = text(member(data, 'postback', 'payload', 'advertised-item-identifier')) end
  else
    field.b = subject
    field.p = text(member(data, 'payload', 'data', 'appAppleId'))
  end
  field.v = string.lower(text(member(data, 'environment')))
end

local function setOf(list)
  if not list then return nil end
  local set = {}
  for _, value in ipairs(list) do set[value] = true end
  return set
end

-- Returns a function that checks whether an event with given fields is wanted; nil if all events are wanted.
local function makeFilter(packed)
  if packed == '' then return nil end
  local filter = cmsgpack.unpack(packed)
  local types, networks = setOf(filter.types), setOf(filter.adNetworkIds)
  local apps, environments = setOf(filter.apps), setOf(filter.environments)
  return function(field)
    if types and not types[field.t] then return false end
    if not (networks or apps or environments) then return true end
    addAttributes(field)
    if networks and (field.n == '' or not networks[field.n]) then return false end
    if apps and not (field.p ~= '' and apps[field.p] or field.b ~= '' and apps[field.b]) then return false end
    return not environments or field.v ~= '' and environments[field.v] == true
  end
end
