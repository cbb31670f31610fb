import Cryptography
import Testing
import WireJSON

@testable import AppStore

@Suite("Receipts that senders have changed on the way, and signed data in place of receipts") struct ReceiptTextTests {
  /// A compact JWS, whose signature is not checked.
  private static func jws(_ payload: JSONObject) -> String {
    let header: JSONObject = ["alg": "ES256", "x5c": ["AA", "BB", "CC"]]
    return [JSONValue.object(header), .object(payload)].map { Base64.encodeURL($0.serialized) }.joined(separator: ".") + ".c2ln"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("+", with: "%2B").replacing("/", with: "%2f").replacing("=", with: "%3D")
  }

  private static let changes: [(name: String, change: @Sendable (String) -> String)] = [
    ("unchanged", { $0 }), ("encoded twice", { Base64.encode(Array($0.utf8)) }),
    ("encoded three times", { Base64.encode(Array(Base64.encode(Array($0.utf8)).utf8)) }),
    ("blanks in place of plus signs", { $0.replacing("+", with: " ") }),
    ("the alphabet of URLs", { $0.replacing("+", with: "-").replacing("/", with: "_") }),
    ("without padding", { $0.replacing("=", with: "") }),
    ("the alphabet of URLs without padding", { $0.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "") }),
    ("in lines", { lines($0, "\r\n") }), ("in lines that end with blanks", { lines($0, " ") }),
    ("in lines, as JSON escapes them", { lines($0, #"\n"#) }), ("with escaped slashes", { $0.replacing("/", with: #"\/"#) }),
    ("after a byte order mark", { "\u{FEFF}" + $0 }),
    ("in quotes", { "\"\($0)\"" }), ("in single quotes and a line", { "'\($0)'\n" }), ("escaped for a URL", { escaped($0) }),
    ("in the URL alphabet, encoded twice", { Base64.encodeURL(Array($0.replacing("+", with: "-").replacing("/", with: "_").utf8)) }),
  ]

  private static func lines(_ text: String, _ end: String) -> String {
    text.enumerated().map { $0.offset % 64 == 63 ? "\($0.element)\(end)" : "\($0.element)" }.joined()
  }

  @Test("the ids of a receipt are read, however its text was changed on the way", arguments: AppStoreVectors.receipts)
  func changed(vector: AppStoreVectors.Case) throws {
    let text = String(AppStoreVectors.text(vector.file).filter { !$0.isWhitespace })
    let isApp = vector.kind == "appReceipt"
    let extractor = TransactionIdExtractor()
    let expected = try isApp ? extractor.appReceipt(text) : extractor.transactionReceipt(text)
    #expect(!expected.isEmpty)
    for (name, change) in Self.changes {
      // Each field takes both kinds.
      #expect(try extractor.appReceipt(change(text)) == expected, "\(vector.file), \(name)")
      #expect(try extractor.transactionReceipt(change(text)) == expected, "\(vector.file), \(name)")
    }
  }

  private static let transaction: JSONObject = [
    "transactionId": "2", "originalTransactionId": "1", "bundleId": "com.example.app", "environment": "Production", "appTransactionId": "9",
  ]
  private static let renewal: JSONObject = ["originalTransactionId": "3", "environment": "Production"]
  private static let notification: JSONObject = [
    "notificationType": "DID_RENEW", "notificationUUID": "u",
    "data": [
      "bundleId": "com.example.app", "environment": "Production", "signedTransactionInfo": .string(jws(transaction)),
      "signedRenewalInfo": .string(jws(renewal)),
    ],
  ]

  private static func json(_ object: JSONObject) -> String { JSONValue.object(object).serializedString }

  private static let purchaseIds = ["originalTransactionId originalTransactionId 1", "transactionId transactionId 2"]
  private static let renewalIds = ["originalTransactionId originalTransactionId 3"]

  /// The ids with the place of their JWS before the field.
  private static func ids(_ ids: [String], in place: String) -> [String] { ids.map { place + "." + $0 } }

  /// Texts, and the ids that they have.
  static let signedTexts: [(text: String, ids: [String])] = [
    (jws(transaction), purchaseIds),
    (jws(renewal), renewalIds),
    (jws(["transactionId": 2, "originalTransactionId": 1]), purchaseIds),
    (jws(["receiptType": "Production", "bundleId": "com.example.app", "appTransactionId": "9"]), ["appTransactionId appTransactionId 9"]),
    (jws(notification), ids(purchaseIds, in: "transaction") + ids(renewalIds, in: "renewalInfo")),
    // The body that Apple posts.
    (
      json(["signedPayload": .string(jws(notification))]),
      ids(purchaseIds, in: "notification.transaction") + ids(renewalIds, in: "notification.renewalInfo")
    ),
    (json(["signedTransactions": [.string(jws(transaction))]]), ids(purchaseIds, in: "transaction")),
    (
      #"{"status":0,"receipt":{"bundle_id":"com.example.app","in_app":[{"original_transaction_id":"4"}]}}"#,
      ["receipt.in_app[0].original_transaction_id originalTransactionId 4"]
    ),
  ]

  @Test("the ids of signed data are read, whatever it is", arguments: signedTexts)
  func signedData(entry: (text: String, ids: [String])) throws {
    for changed in [entry.text, "\"\(entry.text)\"\n", Base64.encode(Array(entry.text.utf8))] {
      for contents in [
        try TransactionIdExtractor().appReceiptContents(changed), try TransactionIdExtractor().transactionReceiptContents(changed),
      ] {
        let found = contents.found.map { "\($0.location) \($0.kind.rawValue) \($0.id)" }
        #expect(found == entry.ids)
        #expect((contents.bundleId ?? "com.example.app") == "com.example.app" && !contents.isOfXcode)
      }
    }
  }

  @Test("signed data of Xcode is recognised by its environment", arguments: ["Xcode", "LocalTesting"])
  func xcode(environment: String) throws {
    for name in ["environment", "receiptType"] {
      var payload = Self.transaction
      payload["environment"] = nil
      payload[name] = .string(environment)
      #expect(try TransactionIdExtractor().appReceiptContents(Self.jws(payload)).isOfXcode)
      let outer: JSONObject = ["data": ["signedTransactionInfo": .string(Self.jws(payload))]]
      #expect(try TransactionIdExtractor().appReceiptContents(Self.jws(outer)).isOfXcode)
    }
    #expect(TransactionIdExtractor.isOfXcode("0") && !TransactionIdExtractor.isOfXcode("10") && !TransactionIdExtractor.isOfXcode(""))
  }

  @Test(
    "a text that is no receipt is refused with the reason",
    arguments: [
      ("!", .notBase64), ("a=b", .notBase64), ("%2", .notBase64), (#"AA\x"#, .notBase64),
      ("AAAA", .malformed("not a PKCS#7 app receipt")), ("", .malformed("not a PKCS#7 app receipt")),
      ("{}", .malformed("not a PKCS#7 app receipt")), (#"{"a":1}"#, .malformed("not a PKCS#7 app receipt")),
      (jws(["a": 1]), .malformed("a JWS without a transaction id")), ("a.b.c", .notBase64),
    ] as [(String, TransactionIdExtractor.Failure)])
  func refused(text: String, failure: TransactionIdExtractor.Failure) {
    #expect(throws: failure) { try TransactionIdExtractor().appReceiptContents(text) }
  }

  @Test("JWS inside JWS are read to a limited depth")
  func depth() throws {
    var payload = Self.transaction
    for level in 1...6 {
      let found = try? TransactionIdExtractor().appReceipt(Self.jws(payload))
      #expect((found?.count ?? 0) == (level <= 3 ? 2 : 0), "\(level)")
      payload = ["data": ["signedTransactionInfo": .string(Self.jws(payload))]]
    }
  }
}
