-- wrk -t1 -c64 -d10s -s Tests/Benchmarks/native/accept.lua http://127.0.0.1:8080: posts well-formed postbacks, each with another transaction id.
local counter = 0
local run = os.time()

function request()
  counter = counter + 1
  local id = string.format('%08x-0000-4000-8000-%012x', run, counter)
  local body = '{"version":"4.0","ad-network-id":"example123.skadnetwork","source-identifier":"5239","app-id":525463029,'
    .. '"transaction-id":"' .. id .. '","redownload":false,"source-domain":"example.com","fidelity-type":1,"did-win":true,'
    .. '"conversion-value":63,"postback-sequence-index":0,"attribution-signature":"MEUCIGRmSMrqedNu6uaHyhVcifs118R5z/AB6cvRaKrRRHWR'
    .. 'AiEAv96ne3dKQ5kJpbsfk4eYiePmrZUU6sQmo+7zfP/1Bxo="}'
  return wrk.format('POST', '/v1/postbacks', { ['Content-Type'] = 'application/json' }, body)
end

function done(summary)
  io.write(string.format('responses with a status of 400 or more: %d\n', summary.errors.status))
end
