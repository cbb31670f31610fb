import AttributionProtocol
import Cryptography

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Checks the certificates of a listener.
struct CertificateDiagnosis: Sendable {
  /// The remaining validity below which a certificate should be replaced, seconds.
  private static let soon: Int64 = 14 * 86_400

  /// `internal` or `public`.
  let listener: String
  let settings: ListenerTLS

  /// - Parameter now: seconds since 1970.
  func findings(now: Int64) -> [Finding] {
    var findings = [finding(settings.certificateFile, "certificate of the \(listener) listener", now)]
    if let file = settings.clientCAFile { findings.append(finding(file, "authority of callers' certificates", now)) }
    return findings
  }

  private func finding(_ path: String, _ subject: String, _ now: Int64) -> Finding {
    guard let bytes = FileManager.default.contents(atPath: path), let certificate = try? Certificate(derOrPEM: Array(bytes)) else {
      return Finding(
        check: "certificate", state: "failed", subject: subject, found: "\(path) contains no readable certificate",
        advice: "The listener continues with the certificate that it read before. Replace the file with a valid PEM file.")
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
    let isSoon = certificate.notAfter - now < Self.soon
    return Finding(
      check: "certificate", state: isSoon ? "warning" : "ok", subject: subject, found: "expires at \(end)",
      advice: isSoon ? "Renew it and replace \(path): the service reads the new file within seconds, without a restart." : nil)
  }
}
