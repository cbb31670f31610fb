-- wrk -t1 -c32 -d10s -s Tests/Benchmarks/native/sign.lua http://127.0.0.1:8091 -- TOKEN: each request has one
-- SKAdNetwork 4.0 impression to sign. If PAUSE is set, each connection waits this number of milliseconds on average before its next request.
local body = '{"version":"4.0","adNetworkId":"example123.skadnetwork","sourceIdentifier":5239,"itunesItemId":525463029,'
  .. '"sourceAppId":1234567891,"fidelityType":1}'
local pause = tonumber(os.getenv('PAUSE') or '')

function init(arguments)
  wrk.method = 'POST'
  wrk.path = '/attribution.signer.v1.SignerService/SignSKAdNetworkImpression'
  wrk.headers['Content-Type'] = 'application/json'
  wrk.headers['Authorization'] = 'Bearer ' .. (arguments[1] or '')
  wrk.body = body
end

if pause then
  function delay() return math.floor(pause + math.random()) end
end

function done(summary)
  io.write(string.format('responses with a status of 400 or more: %d\n', summary.errors.status))
end
