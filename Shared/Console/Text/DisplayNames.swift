/// The texts that pages show for values of the contract: kinds, verdicts, reasons, queues, and uses and states of keys. An unknown value is
/// shown as it is.
enum DisplayNames {
  /// Kinds of deliveries and their names, in the order in which pages show them.
  static let kinds = [
    ("skadnetwork-postback", "SKAdNetwork postbacks"), ("adattributionkit-postback", "AdAttributionKit postbacks"),
    ("notification", "App Store notifications"), ("adservices-token", "AdServices tokens"),
    ("adservices-token-addition", "AdServices tokens posted again"), ("session", "SDK sessions"),
    ("att-status", "ATT status changes"), ("transaction", "Transactions from Apple"), ("subscription-status", "Statuses from Apple"),
    ("subscription-gap", "Suspected gaps"), ("gap", "Gaps to query"), ("gap-settled", "Results for gaps"),
    ("receipt", "Receipts to migrate"),
    ("retention", "Retention messages"), ("report", "Reports of external purchases"),
  ]

  /// The kinds that devices, the App Store and SDKs send. Services of the deployment make the other kinds.
  static let externalKinds: Set<String> = [
    "skadnetwork-postback", "adattributionkit-postback", "notification", "adservices-token", "adservices-token-addition", "session",
    "att-status",
  ]

  static func kind(_ kind: String) -> String { kinds.first { $0.0 == kind }?.1 ?? kind }

  /// The verdicts on a delivery, in the order in which a column of a plot stacks them.
  static let verdicts = ["verified", "done", "duplicate", "rejected", "dead"]

  static func verdict(_ verdict: String) -> String {
    switch verdict {
    case "verified": "verified"
    case "done": "processed"
    case "duplicate": "duplicate"
    case "rejected": "rejected"
    case "dead": "dead letter"
    default: verdict
    }
  }

  /// The explanation of a rejection's reason.
  static func reason(_ reason: String) -> String {
    switch reason {
    case "malformed": "A field is missing, has the wrong type or is out of range."
    case "malformed_signature": "The signature cannot be decoded."
    case "malformed_jws": "It is not a compact JWS of JSON objects."
    case "malformed_certificate": "One of its certificates cannot be parsed."
    case "unexpected_algorithm": "It is signed with an algorithm that Apple does not use here."
    case "unknown_key": "It names an unknown key: it is forged, or Apple has a new key."
    case "unsupported_version": "Its version is not one that Apple has defined, or it is a notification of version 1."
    case "bad_signature": "Its format is correct, but Apple did not sign it: it is forged or was changed."
    case "chain_length": "It does not contain the three certificates that Apple sends."
    case "chain_invalid": "Its certificates do not lead to a trusted root."
    case "certificate_revoked": "One of its certificates is revoked."
    case "revocation_unknown": "It is unknown whether its certificates are revoked."
    case "wrong_ad_network": "Apple signed it, but for another ad network than that of the URL."
    case "wrong_app": "Apple signed it, but for an app that is not configured, or for another app than that of the URL."
    case "app_not_named": "Apple signed it, but it does not name its app, and its source does not prove the app either."
    case "wrong_environment": "Apple signed it, but for an environment that is not configured for the app."
    case "conflicting_unsigned": "It was counted before with other unsigned values; the first values stay."
    default: "Rejected for this reason."
    }
  }

  /// The content of a queue, and the service whose workers process it.
  static func queue(_ name: String) -> String {
    switch name {
    case "intake": "Postbacks and notifications, processed by verifier"
    case "tokens": "AdServices tokens, processed by asa-token-broker"
    case "sessions": "SDK sessions, processed by ingest"
    case "gaps": "Gaps of subscriptions, processed by notification-recovery"
    case "migrations": "Receipts to migrate, processed by notification-recovery"
    case "reports": "Reports of external purchases, processed by notification-recovery"
    default: ""
    }
  }

  /// What a key signs, as a noun.
  static func keyUse(_ use: String) -> String {
    switch use {
    case "impressions": "ad impressions"
    case "appStoreServer": "tokens for the App Store Server API"
    case "otherAppStoreServer": "tokens for the App Store Server API, if Apple refuses those of the other key"
    case "offers": "offers"
    default: use
    }
  }

  static func keyState(_ state: String) -> String {
    switch state {
    case "pending": "Does not sign yet"
    case "active": "Signs"
    case "retiring": "Does not sign any more; its signatures are still valid"
    case "revoked": "Does not sign any more; its signatures must not be trusted"
    default: ""
    }
  }
}
