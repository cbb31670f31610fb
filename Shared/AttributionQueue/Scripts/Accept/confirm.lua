-- confirm: writes a key if an earlier claim still exists. A replica that confirms this write also has the claim, which is older.
-- If a replica without the claim became the primary, nothing is written, and the delivery must be accepted again.
-- KEYS 1 the key to write  2… the deduplication buckets that may contain the claim
-- ARGV 1 member
-- Returns 1 if the claim exists.
for index = 2, #KEYS do
  if redis.call('SISMEMBER', KEYS[index], ARGV[1]) == 1 then
    redis.call('SET', KEYS[1], '1')
    return 1
  end
end
return 0
