extension RedisScript {
  /// Writes a value if the stored one is still the one that was read. Returns 1 if it was written.
  ///
  /// Key: the value. Arguments: the value that was read, empty for none; the new value; seconds to live.
  public static let compareAndSet = RedisScript(name: "compare_and_set", source: PackageResources.compare_and_set_lua)
}
