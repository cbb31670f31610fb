import Foundation

/// The directory that stores keys, certificates and registered apps between runs. The README lists its files for the services.
public struct StateDirectory: Sendable {
  public let path: String

  public init(path: String) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  /// The content of the file; nil if it does not exist.
  public func read(_ name: String) -> String? { try? String(contentsOfFile: path + "/" + name, encoding: .utf8) }

  func remove(_ name: String) { unlink(path + "/" + name) }

  /// Replaces the file atomically. Only its owner may read a secret one.
  public func write(_ name: String, _ text: String, secret: Bool = false) throws {
    let temporary = path + "/." + name + "." + String(ProcessInfo.processInfo.processIdentifier)
    guard
      FileManager.default.createFile(
        atPath: temporary, contents: Data(text.utf8), attributes: [.posixPermissions: secret ? 0o600 : 0o644])
    else { throw CocoaError(.fileWriteUnknown) }
    guard rename(temporary, path + "/" + name) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  /// The key with this name; it is created if it does not exist.
  func key(_ name: String, _ curve: EllipticKey.Curve) throws -> EllipticKey {
    if let pem = read(name + "-key.pem") { return try EllipticKey(pem: pem, curve: curve) }
    let key = try EllipticKey.generate(curve)
    try write(name + "-key.pem", key.privatePEM(), secret: true)
    return key
  }

  /// The certificate with this name; it is created if it does not exist.
  func certificate(_ name: String, _ make: () throws -> Certificate) throws -> Certificate {
    if let pem = read(name + ".pem") { return try Certificate(pem: pem) }
    let certificate = try make()
    try write(name + ".pem", certificate.pem())
    return certificate
  }
}
