import Cryptography
import WireJSON

/// A compact JWS with ES256 in its header, of a postback or an impression: the checks that need no key (Verifying a postback).
struct ES256Envelope {
  private let jws: CompactJWS
  let header: JSONObject
  /// Nil if the header has none.
  let kid: String?

  /// Throws `malformed_jws` or `unexpected_algorithm`.
  init(_ text: String, field: String) throws(PostbackRejection) {
    // The limit of the request's body applies; there is no other one.
    do throws(CompactJWS.Failure) { jws = try CompactJWS(text, limit: .max) } catch {
      throw PostbackRejection(.malformedJWS, field: field, "not three parts in Base64URL without padding")
    }
    header = try Self.object(jws.header, "header", field: field)
    guard header["alg"] == .string("ES256") else {
      throw PostbackRejection(.unexpectedAlgorithm, field: field, "the algorithm is not ES256")
    }
    // RFC 7515 requires that unknown critical header parameters are refused. This code supports none.
    guard header["crit"] == nil else { throw PostbackRejection(.malformedJWS, field: field, "critical header parameters") }
    kid = header["kid"]?.stringValue
  }

  /// `header.payload` as sent.
  var signingInput: [UInt8] { jws.signingInput }

  /// The signature, raw. Throws `malformed_signature`.
  func signature(field: String) throws(PostbackRejection) -> ECDSASignature {
    do throws(SignatureError) {
      return try ECDSASignature(raw: jws.signature, curve: .p256)
    } catch {
      throw PostbackRejection(.malformedSignature, field: field, error.description)
    }
  }

  /// The payload. Throws `malformed_jws`.
  func payload(field: String) throws(PostbackRejection) -> JSONObject {
    try Self.object(jws.payload, "payload", field: field)
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
