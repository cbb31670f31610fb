-- wrk -t1 -c4 -d10s -s Tests/Benchmarks/native/batch.lua http://127.0.0.1:8091 -- TOKEN: each request has
-- 1,000 impressions to sign, half of them SKAdNetwork and half AdAttributionKit.
local skadnetwork = '{"skadnetwork":{"version":"4.0","adNetworkId":"example123.skadnetwork","sourceIdentifier":5239,'
  .. '"itunesItemId":525463029,"sourceAppId":1234567891,"fidelityType":1}}'
local adAttributionKit = '{"adAttributionKit":{"adNetworkId":"example123.skadnetwork","sourceIdentifier":5239,'
  .. '"advertisedItemId":525463029,"publisherItemId":1234567891}}'

function init(arguments)
  local items = {}
  for index = 1, 1000 do items[index] = index % 2 == 0 and skadnetwork or adAttributionKit end
  wrk.method = 'POST'
  wrk.path = '/attribution.signer.v1.SignerService/SignImpressions'
  wrk.headers['Content-Type'] = 'application/json'
  wrk.headers['Authorization'] = 'Bearer ' .. (arguments[1] or '')
  wrk.body = '{"items":[' .. table.concat(items, ',') .. ']}'
end

function done(summary)
  io.write(string.format('responses with a status of 400 or more: %d\n', summary.errors.status))
end
