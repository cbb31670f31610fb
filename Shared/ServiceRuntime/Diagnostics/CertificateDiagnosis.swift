import AttributionProtocol
import Cryptography

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Checks the certificates of a listener for `Diagnose`.
struct CertificateDiagnosis: Sendable {
  /// A certificate should be replaced if it expires within this time, seconds.
  private static let renewalTime: Int64 = 14 * 86_400

  /// `internal` or `public`.
  let listener: String
  let settings: ListenerTLS

  /// - Parameter now: seconds since 1970.
  func findings(now: Int64) -> [Finding] {
    var findings = [finding(settings.certificateFile, "certificate of the \(listener) listener", now)]
    if let file = settings.clientCAFile { findings.append(finding(file, "authority of callers' certificates", now)) }
    return findings
  }

  /// Checks the first certificate of the file: in a certificate file, that is the listener's own.
  private func finding(_ path: String, _ subject: String, _ now: Int64) -> Finding {
    guard let bytes = FileManager.default.contents(atPath: path), let certificate = try? Certificate(derOrPEM: Array(bytes)) else {
      return Finding(
        check: "certificate", state: "failed", subject: subject, found: "\(path) contains no readable certificate",
        advice: "The listener continues with the certificates that it read before. Replace the file with a valid PEM file.")
    }
    let end = Timestamp(seconds: certificate.notAfter).text
    if certificate.notAfter < now {
      return Finding(
        check: "certificate", state: "failed", subject: subject, found: "expired at \(end)",
        advice: "Replace \(path) with a new certificate: the service reads it within seconds, without a restart.")
    }
    if certificate.notBefore > now {
      return Finding(
        check: "certificate", state: "failed", subject: subject,
        found: "is not valid before \(Timestamp(seconds: certificate.notBefore).text)",
        advice: "Check this machine's clock.")
    }
    let expiresSoon = certificate.notAfter - now < Self.renewalTime
    return Finding(
      check: "certificate", state: expiresSoon ? "warning" : "ok", subject: subject, found: "expires at \(end)",
      advice: expiresSoon ? "Renew it and replace \(path): the service reads the new file within seconds, without a restart." : nil)
  }
}
