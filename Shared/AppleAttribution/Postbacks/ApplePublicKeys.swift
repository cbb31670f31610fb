import Cryptography

/// The public keys with which Apple signs postbacks (Verifying an install-validation postback; Verifying a postback).
/// `Deploy/merge-apple-keys.py` contains the same keys, for development systems.
public struct ApplePublicKeys: Sendable {
  /// A key and its name in verdicts.
  public struct Key: Sendable {
    public let id: String
    public let key: PreparedPublicKey
  }

  /// The keys of SKAdNetwork up to 2.0 (``SKAdNetworkVersion/postbackCurve``).
  public let p192: [Key]
  /// The keys of SKAdNetwork from 2.1 on (``SKAdNetworkVersion/postbackCurve``).
  public let p256: [Key]
  /// The keys of AdAttributionKit by `kid`.
  public let kids: [String: [Key]]

  /// Several keys may be given for the same purpose, so that a new one can replace an old one.
  public init(p192: [PublicKey], p256: [PublicKey], kids: [String: [PublicKey]]) {
    self.p192 = p192.map { Key(id: "apple-p192", key: PreparedPublicKey($0)) }
    self.p256 = p256.map { Key(id: "apple-p256", key: PreparedPublicKey($0)) }
    self.kids = Dictionary(
      uniqueKeysWithValues: kids.map { kid, keys in (kid, keys.map { Key(id: kid, key: PreparedPublicKey($0)) }) })
  }

  /// Parses keys as Apple publishes them and the configuration contains them: SubjectPublicKeyInfo in Base64. Throws ``FieldError`` with
  /// the field `p192`, `p256` or `kids.<kid>`.
  public init(p192: [String], p256: [String], kids: [String: [String]]) throws(FieldError) {
    var keys: [String: [PublicKey]] = [:]
    for (kid, texts) in kids { keys[kid] = try Self.read(texts, curve: .p256, field: "kids.\(kid)") }
    self.init(
      p192: try Self.read(p192, curve: .p192, field: "p192"), p256: try Self.read(p256, curve: .p256, field: "p256"), kids: keys)
  }

  /// The environment of the postbacks with a `kid`. It is production only for Apple's production `kid`, so that postbacks with an unknown
  /// one are not counted by mistake.
  public static func environment(ofKid kid: String) -> PostbackEnvironment {
    kid.hasPrefix("apple-cas-identifier/") ? .production : .development
  }

  /// Apple's published keys.
  public static let published: ApplePublicKeys = {
    do throws(FieldError) {
      return try ApplePublicKeys(
        p192: [publishedP192], p256: [publishedP256], kids: publishedKids)
    } catch {
      preconditionFailure("a constant in this file is not a key: \(error)")
    }
  }()

  /// Apple's key for SKAdNetwork up to 2.0 in Base64, for configurations that replace only other keys.
  public static let publishedP192 =
    "MEkwEwYHKoZIzj0CAQYIKoZIzj0DAQEDMgAEMyHD625uvsmGq4C43cQ9BnfN2xslVT5V1nOmAMP6qaRRUll3PB1JYmgSm+62sosG"
  /// Apple's key for SKAdNetwork from 2.1 on and for AdAttributionKit in production.
  public static let publishedP256 =
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEWdp8GPcGqmhgzEFj9Z2nSpQVddayaPe4FMzqM9wib1+aHaaIzoHoLN9zW4K8y4SPykE3YVK3sVqW6Af0lfx3gg=="
  /// Apple's keys for AdAttributionKit by `kid`.
  public static let publishedKids = [
    "apple-cas-identifier/0": [publishedP256], "apple-development-identifier/0": [publishedDevelopment0],
    "apple-development-identifier/1": [publishedDevelopment1],
  ]
  /// Apple's key for end-to-end tests: with an impression that an ad network signed, and a conversion on a device.
  static let publishedDevelopment0 =
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAELeEDzpJEP+/qRSE5hJVC1p1J0ssUnQGMzBBbvnACBok8OVGGLgxL0myrKiy6lvRtSlLRsWit87i+vftD8AEqeQ=="
  /// Apple's key for postbacks that a developer makes in the settings of a device (``AdAttributionKitPostback/settingsAdNetworkId``).
  static let publishedDevelopment1 =
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8YzdO7eM97s/IJ25kdW5CZ3A14USE5IJ5Ha/vhWaxI6UBI1ZxCEvjrKxVluVGe6qWwF1BDFq+QHqKfH5u+wxHQ=="

  private static func read(_ texts: [String], curve: Curve, field: String) throws(FieldError) -> [PublicKey] {
    var keys: [PublicKey] = []
    for text in texts {
      guard let der = Base64.decode(text) else { throw FieldError(field: field, reason: "is not Base64") }
      do throws(KeyError) {
        let key = try PublicKey(subjectPublicKeyInfo: der)
        guard key.curve == curve else { throw KeyError.wrongKind(found: "\(key.curve)") }
        keys.append(key)
      } catch {
        throw FieldError(field: field, reason: curve == .p192 ? "is not a P-192 public key" : "is not a P-256 public key")
      }
    }
    return keys
  }
}

extension SKAdNetworkVersion {
  /// The curve of the key with which Apple signs postbacks of this version: P-192 up to and including 2.0, P-256 from 2.1 on.
  var postbackCurve: Curve { self <= .v2_0 ? .p192 : .p256 }
}
