/// Why an OCSP response is rejected. A response contains single responses (RFC 6960, 4.2.1), each about one certificate.
public enum OCSPRefusal: Error, Sendable, Hashable {
  /// More bytes than `OCSPResponse.sizeLimit`.
  case tooLarge(Int)
  /// Not exactly one DER `OCSPResponse`, or a time in it is invalid; with a description.
  case malformed(String)
  /// The response has an error status: 1 malformed request, 2 internal error, 3 try later, 5 signature required, 6 unauthorised.
  case notSuccessful(status: Int)
  /// The response is not of the type `id-pkix-ocsp-basic`.
  case notBasic
  /// Too many single responses or certificates.
  case tooMany
  /// The response or the single response has a critical extension (RFC 6960, 4.4). None is supported.
  case criticalExtension
  /// No single response has the certificate's serial number and the hashes of its issuer's name and key.
  case otherCertificate
  /// Neither the issuer nor a certificate in the response is the responder that the response names.
  case signerNotFound
  /// The responder's certificate was not signed by the issuer of the certificate in question.
  case signerOfOtherIssuer
  /// The responder's certificate may not sign responses: it lacks `id-kp-OCSPSigning`, or its key usage forbids signatures.
  case signerWithoutPurpose
  /// The responder's certificate has expired or is not valid yet.
  case signerOutOfDate
  /// The signature of the response or of the responder's certificate uses another digest than SHA-256, SHA-384 or SHA-512; with OpenSSL's
  /// name of the algorithm.
  case weakSignature(String)
  /// The responder's key did not make the signature of the response.
  case badSignature
  /// `thisUpdate` is later than the present time plus `OCSPResponse.tolerance`; seconds since 1970.
  case notYetValid(thisUpdate: Int64)
  /// `nextUpdate` is earlier than the present time minus `OCSPResponse.tolerance`; seconds since 1970.
  case expired(nextUpdate: Int64)
  /// The single response has no `nextUpdate`, so its validity is unknown.
  case withoutNextUpdate
  /// `nextUpdate` is before `thisUpdate`.
  case contradictoryTimes
}
