import Cryptography
import WireJSON

/// The compact JWS of a postback or an impression, after the checks that need no key (Verifying a postback). The caller verifies the
/// signature with ``signature(field:)`` and ``signingInput``. `field` is the name that errors state.
struct ES256Envelope {
  private let jws: CompactJWS
  let header: JSONObject
  /// The key's id; nil if the header has none.
  let kid: String?

  /// Parses a JWS. Throws `malformed_jws` or `unexpected_algorithm`.
  init(_ text: String, field: String) throws(PostbackRejection) {
    // The body of a request is limited already, so the text needs no limit of its own.
    do throws(CompactJWS.Failure) { jws = try CompactJWS(text, limit: .max) } catch {
      throw PostbackRejection(.malformedJWS, field: field, "the JWS is not three parts in Base64URL without padding")
    }
    header = try Self.object(jws.header, "header", field: field)
    guard header["alg"] == .string("ES256") else {
      throw PostbackRejection(.unexpectedAlgorithm, field: field, "the algorithm is not ES256")
    }
    // RFC 7515 requires that critical header parameters that are not supported are refused. None are supported here.
    guard header["crit"] == nil else { throw PostbackRejection(.malformedJWS, field: field, "the header has critical parameters") }
    kid = header["kid"]?.stringValue
  }

  /// The signed bytes: `header.payload` as received.
  var signingInput: [UInt8] { jws.signingInput }

  /// The signature. Throws `malformed_signature` unless it is the raw r and s of P-256.
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
