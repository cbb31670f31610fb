import TestSupport
import WireJSON

@testable import AppStore

/// Requests and rules for the tests of retention messages.
enum RetentionFixture {
  static let first = "3f0c6b1a-0000-4000-8000-000000000001"
  static let second = "3f0c6b1a-0000-4000-8000-000000000002"
  static let third = "3f0c6b1a-0000-4000-8000-000000000003"
  static let now: Int64 = 1_790_000_000_000

  /// A change of a subscription of the Advanced Commerce API, as an answer offers it.
  static let modification: JSONObject = [
    "operation": "MODIFY_SUBSCRIPTION", "version": "1", "retainBillingCycle": true, "currency": "EUR",
    "changeItems": [
      [
        "currentSKU": "gold", "SKU": "silver", "displayName": "Silver", "description": "Fewer channels", "effective": "NEXT_BILL_CYCLE",
        "reason": "DOWNGRADE", "price": 4990, "offer": ["period": "P1M", "periodCount": 2, "price": 990, "reason": "RETENTION"],
      ]
    ],
  ]

  static func payload(_ more: JSONObject = [:]) -> JSONObject {
    var payload: JSONObject = [
      "originalTransactionId": "99371282", "appAppleId": 531_412, "productId": "com.example.monthly", "userLocale": "en-US",
      "requestIdentifier": "3DB5C98D-8ACF-4E29-831E-8E1F82F9F6E9", "environment": "Sandbox", "signedDate": .integer(now),
    ]
    for member in more.members { payload[member.key] = member.value.isNull ? nil : member.value }
    return payload
  }

  static func request(_ more: JSONObject = [:]) throws -> RealtimeRequest {
    try RealtimeRequest(validating: payload(more), receivedAt: now + 7)
  }

  static func facts(_ change: (inout RetentionFacts) -> Void = { _ in }) -> RetentionFacts {
    var facts = RetentionFacts(status: .active)
    facts.subscriptionGroupId = "21345678"
    facts.storefront = "DEU"
    facts.priceMilliunits = 9990
    facts.currency = "EUR"
    facts.originalPurchaseDate = now - 100 * 86_400_000
    change(&facts)
    return facts
  }

  static func option(_ message: String = first) throws -> RetentionOption {
    try RetentionOption(message: RetentionMessageChoice(message: message), .message)
  }

  static func rule(
    _ name: String, _ options: [RetentionOption]? = nil, _ conditions: (inout RetentionConditions) throws -> Void = { _ in }
  ) throws -> RetentionRule {
    var made = RetentionConditions()
    try conditions(&made)
    return RetentionRule(name: name, conditions: made, options: try options ?? [option()])
  }
}
