/// The keys that sign postbacks, in place of Apple's: one for SKAdNetwork up to 2.0, one for later versions and for AdAttributionKit, and
/// two for development.
public struct DeviceKeys: Sendable {
  public let p192: EllipticKey
  public let p256: EllipticKey
  /// The key of postbacks in development: `apple-development-identifier/0`.
  public let development: EllipticKey
  /// The key of postbacks that are created in a device's settings: `apple-development-identifier/1`.
  public let settings: EllipticKey

  init(in directory: StateDirectory) throws {
    p192 = try directory.key("device-p192", .p192)
    p256 = try directory.key("device-p256", .p256)
    development = try directory.key("device-development-0", .p256)
    settings = try directory.key("device-development-1", .p256)
  }

  /// The key that the `kid` of an AdAttributionKit postback names; nil if there is none.
  public func key(kid: String) -> EllipticKey? {
    switch kid {
    case "apple-cas-identifier/0": p256
    case "apple-development-identifier/0": development
    case "apple-development-identifier/1": settings
    default: nil
    }
  }

  /// The `appleKeys:` block of the services' configuration.
  func yaml() throws -> String {
    func text(_ key: EllipticKey) throws -> String { Base64Text.encode(try key.publicDER()) }
    return """
      # Public keys of the Apple simulator. Apple signs with other keys: never use these in production.
      appleKeys:
        p192: "\(try text(p192))"
        p256: "\(try text(p256))"
        kids:
          apple-cas-identifier/0: "\(try text(p256))"
          apple-development-identifier/0: "\(try text(development))"
          apple-development-identifier/1: "\(try text(settings))"

      """
  }
}
