import Foundation

/// The certificates under which the simulated App Store signs: a root, an intermediate and a leaf, as in *JWSDecodedHeader*.
public struct AppStoreChain: Sendable {
  /// The object identifiers of Apple's marker extensions.
  static let leafMark = "1.2.840.113635.100.6.11.1"
  static let intermediateMark = "1.2.840.113635.100.6.2.1"

  public let root: Certificate
  /// Standard Base64 of leaf, intermediate and root, in this order.
  public let x5c: [String]
  public let leafKey: EllipticKey

  /// Reads the chain with this name, or creates it.
  ///
  /// - Parameters:
  ///   - name: identifies the root. The services trust only the root of `app-store`; the others are for forgeries.
  ///   - variant: identifies the intermediate and the leaf; all variants of a name have the same root.
  ///   - marked: false for a forged chain without Apple's marker extensions.
  init(in directory: StateDirectory, name: String = "app-store", variant: String = "", marked: Bool = true) throws {
    let branch = variant.isEmpty ? name : "\(name)-\(variant)"
    let rootKey = try directory.key("\(name)-root", .p384)
    let intermediateKey = try directory.key("\(branch)-intermediate", .p384)
    let leafKey = try directory.key("\(branch)-leaf", .p256)
    let now = Int(Date().timeIntervalSince1970)
    let day = 86_400
    let root = try directory.certificate("\(name)-root") {
      try CertificateBuilder(
        commonName: "Simulated Root CA - G3", role: .root, notBefore: now - 4000 * day, notAfter: now + 7000 * day
      ).build(for: rootKey)
    }
    let intermediate = try directory.certificate("\(branch)-intermediate") {
      try CertificateBuilder(
        commonName: "Simulated Worldwide Developer Relations Certification Authority", role: .intermediate,
        notBefore: now - 2000 * day, notAfter: now + 3500 * day, marks: marked ? [Self.intermediateMark] : [],
        issuer: (root, rootKey)
      ).build(for: intermediateKey)
    }
    let leaf = try directory.certificate("\(branch)-leaf") {
      try CertificateBuilder(
        commonName: "Simulated ECC Mac App Store and iTunes Store Receipt Signing", role: .leaf,
        notBefore: now - 1000 * day, notAfter: now + 755 * day, marks: marked ? [Self.leafMark] : [],
        issuer: (intermediate, intermediateKey)
      ).build(for: leafKey)
    }
    self.root = root
    self.leafKey = leafKey
    x5c = try [leaf, intermediate, root].map { Base64Text.encode(try $0.der()) }
  }
}
