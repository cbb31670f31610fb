import Cryptography
import WireJSON

/// A compact JWS with ES256 in its header, of a postback or an impression: the checks that need no key (Verifying a postback).
struct ES256Envelope {
  private let signatureBytes: [UInt8]
  private let payloadBytes: [UInt8]
  let header: JSONObject
  /// `header.payload` as sent.
  let signingInput: [UInt8]
  /// Nil if the header has none.
  let kid: String?

  /// Throws `malformed_jws` or `unexpected_algorithm`.
  init(_ text: String, field: String) throws(PostbackRejection) {
    // An empty signature is accepted here, so that an unsigned token is reported by its algorithm.
    let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw PostbackRejection(.malformedJWS, field: field, "not three parts") }
    guard let headerBytes = Base64.decodeURL(Substring(parts[0])), let payloadBytes = Base64.decodeURL(Substring(parts[1])),
      let signatureBytes = Base64.decodeURL(Substring(parts[2]))
    else { throw PostbackRejection(.malformedJWS, field: field, "not Base64URL without padding") }
    self.payloadBytes = payloadBytes
    self.signatureBytes = signatureBytes
    signingInput = Array(text.utf8.prefix(parts[0].count + 1 + parts[1].count))
    header = try Self.object(headerBytes, "header", field: field)
    guard header["alg"] == .string("ES256") else {
      throw PostbackRejection(.unexpectedAlgorithm, field: field, "the algorithm is not ES256")
    }
    // RFC 7515 requires that unknown critical header parameters are refused. This code supports none.
    guard header["crit"] == nil else { throw PostbackRejection(.malformedJWS, field: field, "critical header parameters") }
    kid = header["kid"]?.stringValue
  }

  /// The signature, raw. Throws `malformed_signature`.
  func signature(field: String) throws(PostbackRejection) -> ECDSASignature {
    do throws(SignatureError) {
      return try ECDSASignature(raw: signatureBytes, curve: .p256)
    } catch {
      throw PostbackRejection(.malformedSignature, field: field, error.description)
    }
  }

  /// The payload. Throws `malformed_jws`.
  func payload(field: String) throws(PostbackRejection) -> JSONObject {
    try Self.object(payloadBytes, "payload", field: field)
  }

  private static func object(_ bytes: [UInt8], _ part: String, field: String) throws(PostbackRejection) -> JSONObject {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: bytes)
    } catch {
      throw PostbackRejection(.malformedJWS, field: field, "\(part): \(error.reason)")
    }
    guard case .object(let object) = value else {
      throw PostbackRejection(.malformedJWS, field: field, "the \(part) is not a JSON object")
    }
    return object
  }
}
