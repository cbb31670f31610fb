import Cryptography
public import WireJSON

/// Extracts transaction ids from receipts without verification, so that a server can stop using verifyReceipt. The ids must be used only in
/// requests to the App Store Server API, because anybody can write a receipt.
public struct TransactionIdExtractor: Sendable {
  /// An id and where it was found.
  public struct Found: Sendable, Hashable {
    /// The names of the fields in signed data. Only a signed app transaction has an id of the last kind.
    public enum Kind: String, Sendable { case originalTransactionId, transactionId, appTransactionId }
    public let id: String
    public let kind: Kind
    /// The path in a response of verifyReceipt, in signed data or in a property list, such as `receipt.in_app[0].transaction_id`. In an app
    /// receipt, the types of the attributes, such as `17.1703`.
    public let location: String
  }

  /// The content of a receipt: the app and the ids.
  public struct Contents: Sendable, Hashable {
    public var bundleId: String?
    /// True if the receipt says that Xcode or its local testing made it.
    public internal(set) var isOfXcode = false
    /// The ids in the order in which they were found, at most as many as requested.
    public private(set) var found: [Found] = []
    /// True if the receipt has more ids than requested.
    public private(set) var isTruncated = false

    fileprivate mutating func add(_ id: Found, maxIds: Int) {
      if found.count < maxIds { found.append(id) } else { isTruncated = true }
    }
  }

  /// Why a receipt cannot be read.
  public enum Failure: Error, Sendable, Hashable {
    case notBase64
    /// The decoded bytes are not a receipt of the expected kind, with the reason.
    case malformed(String)
    /// The text is longer than this number of bytes.
    case tooLarge(limit: Int)
  }

  /// The longest text of a receipt, bytes (our limit).
  static let limit = 4 << 20
  private static let jsonLimits = JSONLimits(depth: 64, values: 1_000_000)
  private let maxIds: Int

  /// - Parameter maxIds: the greatest number of ids to return for one receipt. If it has more, ``Contents/isTruncated`` is true.
  public init(maxIds: Int = .max) { self.maxIds = maxIds }

  /// True for the id that Xcode's receipts have in place of Apple's ids.
  public static func isOfXcode(_ id: String) -> Bool { !id.isEmpty && id.utf8.allSatisfy { $0 == UInt8(ascii: "0") } }

  /// The ids in an app receipt.
  public func appReceipt(_ text: String) throws(Failure) -> [Found] { try appReceiptContents(text).found }

  /// The content of an app receipt, Base64 of PKCS#7: the ids and the app's bundle id. Any other receipt is read too, and so is a JWS of the
  /// App Store, such as a signed transaction.
  public func appReceiptContents(_ text: String) throws(Failure) -> Contents {
    try contents(of: text, otherwise: "not a PKCS#7 app receipt", acceptsEmptyList: false)
  }

  /// The ids in a transaction receipt.
  public func transactionReceipt(_ text: String) throws(Failure) -> [Found] { try transactionReceiptContents(text).found }

  /// The content of a transaction receipt, the older format: Base64 of a property list whose `purchase-info` is Base64 of a second one. Any
  /// other receipt is read too, and so is a JWS of the App Store.
  public func transactionReceiptContents(_ text: String) throws(Failure) -> Contents {
    try contents(of: text, otherwise: "not a transaction receipt", acceptsEmptyList: true)
  }

  /// Reads a receipt of whatever kind.
  ///
  /// - Parameters:
  ///   - problem: what is wrong with a text that is no receipt.
  ///   - acceptsEmptyList: true if a property list without a purchase is a receipt without a purchase.
  private func contents(of text: String, otherwise problem: String, acceptsEmptyList: Bool) throws(Failure) -> Contents {
    guard text.utf8.count <= Self.limit else { throw .tooLarge(limit: Self.limit) }
    var failure = Failure.notBase64
    for content in ReceiptText.contents(text) {
      do throws(Failure) { return try contents(of: content, otherwise: problem, acceptsEmptyList: acceptsEmptyList) } catch {
        failure = error
      }
    }
    throw failure
  }

  private func contents(
    of content: ReceiptText.Content, otherwise problem: String, acceptsEmptyList: Bool
  ) throws(Failure) -> Contents {
    switch content {
    case .payload(let payload):
      var contents = Contents()
      add(payload, to: &contents)
      guard !contents.found.isEmpty else { throw .malformed("a JWS without a transaction id") }
      return contents
    case .text(let list):
      if let object = try? JSONValue(parsing: Array(list.utf8), limits: Self.jsonLimits).objectValue {
        var contents = verifyReceiptContents(object)
        addSignedParts(of: object, to: &contents)
        if !contents.found.isEmpty || object["receipt"] != nil { return contents }
      }
      if let contents = try purchaseInfo(list) { return contents }
      guard acceptsEmptyList else { throw .malformed(problem) }
      return Contents()
    case .bytes(let bytes):
      do throws(DERReader.Failure) { return try purchases(bytes) } catch { throw .malformed(problem) }
    }
  }

  /// The content of a property list; nil if it has no `purchase-info`.
  private func purchaseInfo(_ list: String) throws(Failure) -> Contents? {
    guard list.contains("\"purchase-info\"") else { return nil }
    guard let encoded = Self.value(of: "purchase-info", in: list), let inner = Base64.decode(encoded) else {
      throw .malformed("purchase-info is not Base64")
    }
    let info = String(decoding: inner, as: UTF8.self)
    var contents = Contents()
    contents.bundleId = Self.value(
      of: "bid", in: info, isAllowed: { Self.isBase64($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") })
    if let id = Self.value(of: "original-transaction-id", in: info) {
      contents.add(Found(id: id, kind: .originalTransactionId, location: "purchase-info.original-transaction-id"), maxIds: maxIds)
    }
    if let id = Self.value(of: "transaction-id", in: info) {
      contents.add(Found(id: id, kind: .transactionId, location: "purchase-info.transaction-id"), maxIds: maxIds)
    }
    return contents
  }

  // MARK: JWS

  /// How deep a JWS may be inside others: a transaction is inside a notification.
  private static let maxJWSDepth = 3

  /// Adds the ids in the payload of a JWS, which is not verified, and in the JWS inside it.
  ///
  /// - Parameter path: the path of the JWS, with a dot at its end; empty for the outermost.
  private func add(_ payload: JSONObject, _ path: String = "", depth: Int = 1, to contents: inout Contents) {
    // A notification has the bundle id in one of its objects.
    contents.bundleId =
      contents.bundleId ?? payload["bundleId"]?.stringValue ?? payload.members.lazy.compactMap { $0.value["bundleId"]?.stringValue }.first
    if let environment = (payload["environment"] ?? payload["receiptType"])?.stringValue,
      KnownApp.unsignedEnvironments.contains(environment)
    {
      contents.isOfXcode = true
    }
    func add(_ kind: Found.Kind) -> Bool {
      guard let value = payload[kind.rawValue], let id = value.stringValue ?? value.numberValue?.uint64.map(String.init), !id.isEmpty
      else { return false }
      contents.add(Found(id: id, kind: kind, location: path + kind.rawValue), maxIds: maxIds)
      return true
    }
    let hasOriginal = add(.originalTransactionId)
    let hasTransaction = add(.transactionId)
    // Of a purchase, the id of the app's download is not needed.
    if !hasOriginal && !hasTransaction { _ = add(.appTransactionId) }
    if depth < Self.maxJWSDepth { addSignedParts(of: payload, path, depth: depth + 1, to: &contents) }
  }

  /// Adds the ids in the JWS of an object, such as a notification or an answer of the App Store Server API.
  private func addSignedParts(of object: JSONObject, _ path: String = "", depth: Int = 1, to contents: inout Contents) {
    for part in SignedParts.find(in: object) {
      if let payload = ReceiptText.payload(ofJWS: part.jws) { add(payload, "\(path)\(part.kind.rawValue).", depth: depth, to: &contents) }
    }
  }

  // MARK: verifyReceipt

  /// The ids in a response of verifyReceipt for an app receipt or a transaction receipt. Ids may be texts or numbers.
  public func verifyReceiptResponse(_ response: JSONObject) -> [Found] { verifyReceiptContents(response).found }

  /// The content of a response of verifyReceipt: the ids and the app's bundle id.
  public func verifyReceiptContents(_ response: JSONObject) -> Contents {
    var contents = Contents()
    contents.bundleId = response["receipt"]?["bundle_id"]?.stringValue ?? response["receipt"]?["bid"]?.stringValue
    func addIds(of entry: JSONValue, _ path: String) {
      for (name, kind) in [
        ("original_transaction_id", Found.Kind.originalTransactionId), ("transaction_id", .transactionId),
      ] {
        guard let value = entry[name], let id = value.stringValue ?? value.numberValue?.uint64.map(String.init) else { continue }
        contents.add(Found(id: id, kind: kind, location: "\(path).\(name)"), maxIds: maxIds)
      }
    }
    /// Adds the ids of a list of purchases, or of a single object, as in the response for a transaction receipt.
    func collect(_ value: JSONValue?, _ path: String) {
      guard let value else { return }
      guard let list = value.arrayValue else { return addIds(of: value, path) }
      for (index, entry) in list.enumerated() { addIds(of: entry, "\(path)[\(index)]") }
    }
    collect(response["receipt"], "receipt")
    collect(response["receipt"]?["in_app"], "receipt.in_app")
    collect(response["latest_receipt_info"], "latest_receipt_info")
    collect(response["pending_renewal_info"], "pending_renewal_info")
    return contents
  }

  // MARK: PKCS#7

  /// The object identifier of SignedData, 1.2.840.113549.1.7.2.
  private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]

  // The types of attributes that are read (Validating receipts on the device).
  private static let bundleIdType = 2
  private static let purchaseType = 17
  private static let transactionIdType = 1703
  private static let originalTransactionIdType = 1705

  /// The content of a receipt with this structure: ContentInfo → [0] SignedData → its third element, the content → [0] → OCTET STRING → SET
  /// of attributes. The value of an attribute of ``purchaseType`` is a SET of attributes too.
  private func purchases(_ bytes: [UInt8]) throws(DERReader.Failure) -> Contents {
    var top = DERReader(bytes[...])
    var info = try top.inside(try top.next())
    guard Array(try info.next().content) == Self.signedData else { throw .malformed }
    var explicit = try info.inside(try info.next())
    var signed = try explicit.inside(try explicit.next())
    _ = try signed.next()
    _ = try signed.next()
    var content = try signed.inside(try signed.next())
    _ = try content.next()
    var wrapped = try content.inside(try content.next())
    var contents = Contents()
    let octets = try wrapped.octets(try wrapped.next())
    try Self.attributes(octets) { type, value throws(DERReader.Failure) in
      if type == Self.bundleIdType {
        var reader = DERReader(value[...])
        contents.bundleId = (try? reader.next()).map { String(decoding: $0.content, as: UTF8.self) }
      }
      guard type == Self.purchaseType else { return }
      try Self.attributes(value) { type, value throws(DERReader.Failure) in
        guard type == Self.transactionIdType || type == Self.originalTransactionIdType else { return }
        var reader = DERReader(value[...])
        let id = String(decoding: try reader.next().content, as: UTF8.self)
        guard !id.isEmpty else { return }
        contents.add(
          Found(
            id: id, kind: type == Self.originalTransactionIdType ? .originalTransactionId : .transactionId,
            location: "\(Self.purchaseType).\(type)"), maxIds: maxIds)
      }
    }
    return contents
  }

  /// Calls `each` with the type and the value of each attribute: SET of SEQUENCE { type, version, value }.
  private static func attributes(_ bytes: [UInt8], _ each: (Int, [UInt8]) throws(DERReader.Failure) -> Void)
    throws(DERReader.Failure)
  {
    var top = DERReader(bytes[...])
    var set = try top.inside(try top.next())
    while !set.isAtEnd {
      var attribute = try set.inside(try set.next())
      let type = try attribute.next().content
      guard type.count <= 4 else { throw .malformed }
      _ = try attribute.next()
      try each(type.reduce(0) { $0 << 8 | Int($1) }, try attribute.octets(try attribute.next()))
    }
  }

  // MARK: Property list

  /// The text of the first `"name" = "text";`; nil if there is none, or the text is empty or has other bytes than allowed.
  private static func value(of name: String, in list: String, isAllowed: (UInt8) -> Bool = isBase64) -> String? {
    guard let range = list.firstRange(of: "\"\(name)\"") else { return nil }
    let rest = list[range.upperBound...].drop { $0 == " " || $0 == "=" || $0 == "\t" }
    guard rest.first == "\"" else { return nil }
    let text = rest.dropFirst().prefix { $0 != "\"" }
    guard !text.isEmpty, text.utf8.allSatisfy(isAllowed) else { return nil }
    return String(text)
  }

  private static func isBase64(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): true
    default: false
    }
  }
}
