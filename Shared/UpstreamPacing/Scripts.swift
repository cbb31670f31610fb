import RedisClient

/// The Lua scripts of the folder `Scripts`, one constant for each file.
enum Scripts {
  static let reserve = RedisScript(name: "reserve", source: PackageResources.reserve_lua)
  static let share = RedisScript(name: "share", source: PackageResources.share_lua)
  static let breakerCount = RedisScript(name: "breaker_count", source: PackageResources.breaker_count_lua)
  static let breakerProbe = RedisScript(name: "breaker_probe", source: PackageResources.breaker_probe_lua)
  static let breakerProbeEnd = RedisScript(name: "breaker_probe_end", source: PackageResources.breaker_probe_end_lua)
}

extension Duration {
  /// Whole microseconds, rounded towards zero.
  var microseconds: Int64 {
    let parts = components
    return parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000
  }
}
