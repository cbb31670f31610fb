-- keep: in front of accept, keeps a value in the same step, unless there is one.
-- KEYS, after those of accept: the value's place  ARGV, after those of accept: the value, seconds that it is kept
-- Answers the value that was there before, and accepts nothing then; else what accept answers.
local seconds = table.remove(ARGV)
local value = table.remove(ARGV)
local earlier = redis.call('SET', table.remove(KEYS), value, 'NX', 'GET', 'EX', seconds)
if earlier then return earlier end
