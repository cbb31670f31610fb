/// The names that pages show.
enum DisplayNames {
  /// Kinds of deliveries, in the order in which they are shown.
  static let kinds = [
    ("skadnetwork-postback", "SKAdNetwork postbacks"), ("adattributionkit-postback", "AdAttributionKit postbacks"),
    ("notification", "App Store notifications"), ("adservices-token", "AdServices tokens"), ("session", "SDK sessions"),
    ("att-status", "ATT status changes"), ("transaction", "Transactions looked up"), ("subscription-status", "Statuses looked up"),
    ("subscription-gap", "Suspected gaps"), ("gap", "Gaps to look up"), ("gap-settled", "Ends of gaps"), ("receipt", "Receipts to migrate"),
  ]

  /// The kinds that devices, the App Store and SDKs send.
  static let fromOutside: Set<String> = [
    "skadnetwork-postback", "adattributionkit-postback", "notification", "adservices-token", "session", "att-status",
  ]

  static func kind(_ kind: String) -> String { kinds.first { $0.0 == kind }?.1 ?? kind }

  /// The verdicts on a delivery, in the order of a column's parts.
  static let verdicts = ["verified", "done", "duplicate", "rejected", "dead"]

  static func verdict(_ verdict: String) -> String {
    switch verdict {
    case "verified": "verified"
    case "done": "worked off"
    case "duplicate": "counted before"
    case "rejected": "rejected"
    case "dead": "given up"
    default: verdict
    }
  }

  /// The explanation of a rejection's reason.
  static func reason(_ reason: String) -> String {
    switch reason {
    case "malformed": "A field is missing, of a wrong kind or out of range."
    case "malformed_signature": "The signature has no signature's form."
    case "malformed_jws": "Not a compact JWS of JSON objects."
    case "malformed_certificate": "A certificate in it cannot be read."
    case "unexpected_algorithm": "Signed by an algorithm that Apple does not use here."
    case "unknown_key": "Names a key that is not known: forged, or Apple has a new one."
    case "unsupported_version": "A version that Apple has not defined, or takes in no more."
    case "bad_signature": "In form, and Apple did not sign it: forged or changed on its way."
    case "chain_length": "Its certificates are not the three that Apple sends."
    case "chain_invalid": "Its certificates do not lead to a root that is trusted."
    case "certificate_revoked": "A certificate of it was revoked."
    case "revocation_unknown": "Whether a certificate was revoked could not be found out."
    case "wrong_ad_network": "Genuine, and of another ad network than its URL."
    case "wrong_app": "Genuine, and of an app that is not configured, or another than its URL."
    case "wrong_environment": "Genuine, and of an environment that the app does not have."
    case "conflicting_unsigned": "Counted before with other unsigned values: the first ones stay."
    default: "Rejected for this reason."
    }
  }

  static func queue(_ name: String) -> String {
    switch name {
    case "intake": "Postbacks and notifications, worked by verifier"
    case "tokens": "AdServices tokens, worked by asa-token-broker"
    case "sessions": "SDK sessions, worked by ingest"
    case "gaps": "Gaps of subscriptions, worked by notification-recovery"
    case "migrations": "Receipts to migrate, worked by notification-recovery"
    case "reports": "Reports of external purchases, worked by notification-recovery"
    default: ""
    }
  }

  static func keyUse(_ use: String) -> String {
    switch use {
    case "impressions": "signs ads"
    case "appStoreServer": "asks the App Store Server API"
    case "otherAppStoreServer": "asks the App Store Server API if Apple refuses the other key"
    case "offers": "signs offers"
    default: use
    }
  }

  static func keyState(_ state: String) -> String {
    switch state {
    case "pending": "Not used yet"
    case "active": "Signs now"
    case "retiring": "Signs no more; what it signed is still valid"
    case "revoked": "Not to be trusted any more"
    default: ""
    }
  }
}
