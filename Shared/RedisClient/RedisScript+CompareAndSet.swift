extension RedisScript {
  /// Writes a value if the stored one is still the one that the caller has read. Returns 1 if it was written, else 0.
  ///
  /// The key is that of the value. The arguments are the value that was read (empty if there was none), the new value, and the number of
  /// seconds until it expires.
  public static let compareAndSet = RedisScript(name: "compare_and_set", source: PackageResources.compare_and_set_lua)
}
