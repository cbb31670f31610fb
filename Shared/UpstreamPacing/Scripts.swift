import RedisClient

/// The Lua scripts of the folder `Scripts`, one constant for each file.
enum Scripts {
  static let reserve = script("reserve", PackageResources.reserve_lua)
  static let share = script("share", PackageResources.share_lua)
  static let breakerCount = script("breaker_count", PackageResources.breaker_count_lua)
  static let breakerProbe = script("breaker_probe", PackageResources.breaker_probe_lua)
  static let breakerProbeEnd = script("breaker_probe_end", PackageResources.breaker_probe_end_lua)

  private static func script(_ name: String, _ source: [UInt8]) -> RedisScript {
    RedisScript(name: name, source: String(decoding: source, as: UTF8.self))
  }
}

extension Duration {
  var microseconds: Int64 {
    let parts = components
    return parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000
  }
}
