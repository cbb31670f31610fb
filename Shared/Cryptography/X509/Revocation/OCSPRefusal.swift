/// Why the bytes of a responder say nothing about a certificate.
public enum OCSPRefusal: Error, Sendable, Hashable {
  /// More bytes than `OCSPResponse.sizeLimit`.
  case tooLarge(Int)
  /// Not exactly one DER `OCSPResponse`, or one with a time nobody can read; OpenSSL's or our own word on it.
  case malformed(String)
  /// The responder did not answer: 1 malformed request, 2 internal error, 3 try later, 5 signature required, 6 unauthorised.
  case notSuccessful(status: Int)
  /// Another kind of response than `id-pkix-ocsp-basic`.
  case notBasic
  /// More answers or certificates in it than anybody needs.
  case tooMany
  /// It must be understood, and is not (RFC 6960, 4.4).
  case criticalExtension
  /// No answer carries this certificate's serial number with the hashes of its issuer's name and key.
  case otherCertificate
  /// Neither the issuer nor a certificate in the response is the responder that the response names.
  case signerNotFound
  /// The responder's certificate was not signed by the certificate's issuer.
  case signerOfOtherIssuer
  /// The responder's certificate does not say that it may sign answers (id-kp-OCSPSigning), or says that it may not sign.
  case signerWithoutPurpose
  /// The responder's certificate is not valid at the time.
  case signerOutOfDate
  /// Signed over a digest that is no longer trusted.
  case weakSignature(String)
  case badSignature
  /// `thisUpdate` lies ahead of the time by more than the tolerance; seconds since 1970.
  case notYetValid(thisUpdate: Int64)
  /// `nextUpdate` lies behind the time by more than the tolerance; seconds since 1970.
  case expired(nextUpdate: Int64)
  /// Without `nextUpdate` nobody can say how old an answer may grow.
  case withoutNextUpdate
  /// `nextUpdate` before `thisUpdate`.
  case contradictoryTimes
}
