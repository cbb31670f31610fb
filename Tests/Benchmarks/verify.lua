-- wrk -t1 -c32 -d10s -s Tests/Benchmarks/verify.lua http://127.0.0.1:8092 -- TOKEN: judges Apple's genuine postback a request; with
-- ITEMS in the environment so many of them in a batch.
local file = io.open(os.getenv('POSTBACK') or 'Deploy/genuine-postback.json')
local postback = file:read('*a'):gsub('%s+$', '')
file:close()
local items = tonumber(os.getenv('ITEMS') or '')

function init(arguments)
  wrk.method = 'POST'
  wrk.headers['Content-Type'] = 'application/json'
  wrk.headers['Authorization'] = 'Bearer ' .. (arguments[1] or '')
  if items then
    local all = {}
    for index = 1, items do all[index] = '{"skadnetworkPostback":{"postback":' .. postback .. '}}' end
    wrk.path = '/attribution.verifier.v1.VerifierService/VerifyBatch'
    wrk.body = '{"items":[' .. table.concat(all, ',') .. ']}'
  else
    wrk.path = '/attribution.verifier.v1.VerifierService/VerifySKAdNetworkPostback'
    wrk.body = '{"postback":' .. postback .. '}'
  end
end


function done(summary)
  io.write(string.format('answers that were not 200: %d\n', summary.errors.status))
end
