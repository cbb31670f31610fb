-- wrk -s Tests/Benchmarks/post.lua http://127.0.0.1:8080: posts each line of the file POSTBACKS once (with one thread of wrk), then no more.
local lines = {}
for line in io.lines(os.getenv('POSTBACKS')) do lines[#lines + 1] = line end
local at = 0

function request()
  at = at + 1
  if at > #lines then
    wrk.thread:stop()
    at = 1
  end
  return wrk.format('POST', '/v1/postbacks', { ['Content-Type'] = 'application/json' }, lines[at])
end

function done(summary)
  io.write(string.format('answers that were not 200: %d\n', summary.errors.status))
end
