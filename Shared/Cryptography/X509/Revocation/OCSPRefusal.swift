/// Why an OCSP response is rejected.
public enum OCSPRefusal: Error, Sendable, Hashable {
  /// More bytes than `OCSPResponse.sizeLimit`.
  case tooLarge(Int)
  /// Not exactly one DER `OCSPResponse`, or a time in it is invalid; with a description.
  case malformed(String)
  /// The responder did not answer: 1 malformed request, 2 internal error, 3 try later, 5 signature required, 6 unauthorised.
  case notSuccessful(status: Int)
  /// Another kind of response than `id-pkix-ocsp-basic`.
  case notBasic
  /// Too many answers or certificates.
  case tooMany
  /// An unknown critical extension (RFC 6960, 4.4).
  case criticalExtension
  /// No answer has this certificate's serial number and the hashes of its issuer's name and key.
  case otherCertificate
  /// Neither the issuer nor a certificate in the response is the responder that the response names.
  case signerNotFound
  /// The responder's certificate was not signed by the certificate's issuer.
  case signerOfOtherIssuer
  /// The responder's certificate may not sign answers: it lacks id-kp-OCSPSigning, or its key usage forbids it.
  case signerWithoutPurpose
  /// The responder's certificate is not valid at that time.
  case signerOutOfDate
  /// The signature uses a digest that is no longer trusted.
  case weakSignature(String)
  case badSignature
  /// `thisUpdate` is later than the time plus the tolerance; seconds since 1970.
  case notYetValid(thisUpdate: Int64)
  /// `nextUpdate` is earlier than the time minus the tolerance; seconds since 1970.
  case expired(nextUpdate: Int64)
  /// Without `nextUpdate` the validity of the answer is unknown.
  case withoutNextUpdate
  /// `nextUpdate` is before `thisUpdate`.
  case contradictoryTimes
}
