extension RedisScript {
  /// Writes a value if the stored one is still the one that was read.
  /// KEYS 1 the value. ARGV 1 the value read, empty for none  2 the new value  3 seconds to live. Returns 1 if it was written.
  public static let compareAndSet = RedisScript(
    name: "compare_and_set",
    source: """
      local current = redis.call('GET', KEYS[1]) or ''
      if current ~= ARGV[1] then return 0 end
      redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
      return 1
      """)
}
