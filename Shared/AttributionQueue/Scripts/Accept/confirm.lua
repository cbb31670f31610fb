-- confirm: writes something behind what was seen before, if it is still there: when replicas confirm that, they have what was seen.
-- A replica that took over may be without it: then nothing is written, and it is to be accepted again.
-- KEYS 1 what is written  2… the seen buckets where it may be
-- ARGV 1 member
-- Answers 1 when it is there.
for place = 2, #KEYS do
  if redis.call('SISMEMBER', KEYS[place], ARGV[1]) == 1 then
    redis.call('SET', KEYS[1], '1')
    return 1
  end
end
return 0
