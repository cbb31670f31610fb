-- Posts the body of sign.lua to the echo that a service serves if ATTRIBUTION_BENCHMARK_ECHO=1 is set. It is run as sign.lua is.
local body = '{"version":"4.0","adNetworkId":"example123.skadnetwork","sourceIdentifier":5239,"itunesItemId":525463029,'
  .. '"sourceAppId":1234567891,"fidelityType":1}'

function init(arguments)
  wrk.method = 'POST'
  wrk.path = '/benchmark.echo/Echo'
  wrk.headers['Content-Type'] = 'application/json'
  wrk.headers['Authorization'] = 'Bearer ' .. (arguments[1] or '')
  wrk.body = body
end

function done(summary)
  io.write(string.format('responses with a status of 400 or more: %d\n', summary.errors.status))
end
