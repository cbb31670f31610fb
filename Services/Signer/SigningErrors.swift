import AppStore
import AppleAttribution
import AttributionProtocol
import Cryptography

extension RPCError {
  /// The error for an invalid value of an impression.
  init(_ error: FieldError) { self = .invalidArgument(field: error.field, error.reason) }

  /// The error for an invalid value of an offer or a token.
  init(_ error: SigningRefusal) { self = .invalidArgument(field: error.field, error.reason) }
}

/// Converts the errors of rules and signatures into those of RPCs.
enum Signing {
  /// The value that a rule for impressions makes. Throws `invalid_argument` with the field.
  static func checked<Value>(_ rule: () throws(FieldError) -> Value) throws(RPCError) -> Value {
    do throws(FieldError) { return try rule() } catch { throw RPCError(error) }
  }

  /// The value that a rule for offers or tokens makes. Throws `invalid_argument` with the field.
  static func checked<Value>(_ rule: () throws(SigningRefusal) -> Value) throws(RPCError) -> Value {
    do throws(SigningRefusal) { return try rule() } catch { throw RPCError(error) }
  }

  /// A signature. Throws `unavailable` if it could not be written to the audit log, otherwise `internal`.
  static func signed<Value>(_ signature: () throws(SignatureError) -> Value) throws(RPCError) -> Value {
    do throws(SignatureError) { return try signature() } catch {
      if case .notRecorded = error {
        throw .unavailable("the signature is not returned, because it could not be written to the audit log", reason: "AUDIT_UNAVAILABLE")
      }
      throw .internalError("the signature could not be made")
    }
  }
}
