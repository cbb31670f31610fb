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

/// Runs rules and signatures, and is the only place that converts their errors.
enum Signing {
  static func checked<Value>(_ rule: () throws(FieldError) -> Value) throws(RPCError) -> Value {
    do throws(FieldError) { return try rule() } catch { throw RPCError(error) }
  }

  static func checked<Value>(_ rule: () throws(SigningRefusal) -> Value) throws(RPCError) -> Value {
    do throws(SigningRefusal) { return try rule() } catch { throw RPCError(error) }
  }

  static func signed<Value>(_ signature: () throws(SignatureError) -> Value) throws(RPCError) -> Value {
    do throws(SignatureError) { return try signature() } catch {
      if case .notRecorded = error {
        throw .unavailable("the signature could not be recorded, and is not handed out", reason: "AUDIT_UNAVAILABLE")
      }
      throw .internalError("the signature could not be made")
    }
  }
}
