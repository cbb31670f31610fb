-- exclusive_call_end: ends a call, so that the next one may run. If the key has another call's token, this call's time has passed and the
-- other call runs now; then the key is not changed.
-- KEYS 1 token of the running call
-- ARGV 1 token of the call that ends
-- Returns 1, or 0 if the call no longer counted as running.
local running = KEYS[1]
local token = ARGV[1]
if redis.call('GET', running) ~= token then return 0 end
return redis.call('DEL', running)
