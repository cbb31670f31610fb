-- tally: adds to the counters of a hash, which lives from its first count on for a given time.
-- KEYS 1 the hash
-- ARGV 1 its time to live, seconds  then of each counter: its field, how much is added
for index = 2, #ARGV, 2 do redis.call('HINCRBY', KEYS[1], ARGV[index], ARGV[index + 1]) end
redis.call('EXPIRE', KEYS[1], ARGV[1], 'NX')
