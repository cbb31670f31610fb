-- wrk -t1 -c32 -d10s -s Tests/Benchmarks/verify.lua http://127.0.0.1:8092 -- TOKEN: judges Apple's genuine postback a request, or that
-- of the file POSTBACK; with ITEMS in the environment so many in a batch, those of the file's lines one after the other.
local file = io.open(os.getenv('POSTBACK') or 'Deploy/genuine-postback.json')
local postback = file:read('*a'):gsub('%s+$', '')
file:close()
local postbacks = {}
for line in (postback .. '\n'):gmatch('({.-})\n') do postbacks[#postbacks + 1] = line end
if #postbacks == 1 then postbacks[1] = postback end
local items = tonumber(os.getenv('ITEMS') or '')

function init(arguments)
  wrk.method = 'POST'
  wrk.headers['Content-Type'] = 'application/json'
  wrk.headers['Authorization'] = 'Bearer ' .. (arguments[1] or '')
  if items then
    local all = {}
    for index = 1, items do all[index] = '{"skadnetworkPostback":{"postback":' .. postbacks[(index - 1) % #postbacks + 1] .. '}}' end
    wrk.path = '/attribution.verifier.v1.VerifierService/VerifyBatch'
    wrk.body = '{"items":[' .. table.concat(all, ',') .. ']}'
  else
    wrk.path = '/attribution.verifier.v1.VerifierService/VerifySKAdNetworkPostback'
    wrk.body = '{"postback":' .. postbacks[1] .. '}'
  end
end


function done(summary)
  io.write(string.format('answers that were not 200: %d\n', summary.errors.status))
end
