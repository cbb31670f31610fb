-- wrk -t1 -c32 -d10s -s Tests/Benchmarks/native/verify.lua http://127.0.0.1:8092 -- TOKEN: each request has one
-- postback to verify. The environment variable POSTBACK names the file of postbacks, one per line; the default is Apple's genuine postback.
-- If ITEMS is set, each request is a batch of this number of postbacks: the batches follow the lines of the file, and begin again at its
-- end. Without ITEMS, every request has the first postback.
local file = io.open(os.getenv('POSTBACK') or 'Deploy/genuine-postback.json')
local postback = file:read('*a'):gsub('%s+$', '')
file:close()
local postbacks = {}
for line in (postback .. '\n'):gmatch('({.-})\n') do postbacks[#postbacks + 1] = line end
if #postbacks == 1 then postbacks[1] = postback end
local items = tonumber(os.getenv('ITEMS') or '')
local requests, count = {}, 0

function init(arguments)
  wrk.method = 'POST'
  wrk.headers['Content-Type'] = 'application/json'
  wrk.headers['Authorization'] = 'Bearer ' .. (arguments[1] or '')
  if items then
    wrk.path = '/attribution.verifier.v1.VerifierService/VerifyBatch'
    for first = 1, #postbacks, items do
      local all = {}
      for index = 1, items do
        all[index] = '{"skadnetworkPostback":{"postback":' .. postbacks[(first + index - 2) % #postbacks + 1] .. '}}'
      end
      requests[#requests + 1] = wrk.format(nil, nil, nil, '{"items":[' .. table.concat(all, ',') .. ']}')
    end
  else
    wrk.path = '/attribution.verifier.v1.VerifierService/VerifySKAdNetworkPostback'
    requests[1] = wrk.format(nil, nil, nil, '{"postback":' .. postbacks[1] .. '}')
  end
end

function request()
  count = count + 1
  return requests[count % #requests + 1]
end

function done(summary)
  io.write(string.format('responses with a status of 400 or more: %d\n', summary.errors.status))
end
