/// The token in an `Authorization` header.
enum BearerToken {
  /// The token of `Bearer <token>`; nil for another scheme. The scheme is compared ignoring case.
  static func bytes(_ authorization: String) -> [UInt8]? {
    var authorization = authorization
    return authorization.withUTF8 { utf8 in
      let scheme: StaticString = "bearer "
      guard utf8.count > scheme.utf8CodeUnitCount else { return nil }
      var at = 0
      while at < scheme.utf8CodeUnitCount {
        guard utf8[at] | 0x20 == scheme.utf8Start[at] | 0x20 else { return nil }
        at += 1
      }
      while at < utf8.count, utf8[at] == UInt8(ascii: " ") { at += 1 }
      return Array(UnsafeBufferPointer(rebasing: utf8[at...]))
    }
  }
}
