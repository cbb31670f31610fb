import Cryptography
public import WireJSON

/// Extracts transaction ids from receipts without verification, so that a server can stop using verifyReceipt. The ids must be used only in
/// requests to the App Store Server API, because anybody can write a receipt.
public struct TransactionIdExtractor: Sendable {
  /// An id and where it was found.
  public struct Found: Sendable, Hashable {
    public enum Kind: String, Sendable { case originalTransactionId, transactionId }
    public let id: String
    public let kind: Kind
    /// The path in a response of verifyReceipt or in a property list, such as `receipt.in_app[0].transaction_id`. In an app receipt, the
    /// types of the attributes, such as `17.1703`.
    public let location: String
  }

  /// The content of a receipt: the app and the ids.
  public struct Contents: Sendable, Hashable {
    public var bundleId: String?
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
  private let maxIds: Int

  /// - Parameter maxIds: the greatest number of ids to return for one receipt. If it has more, ``Contents/isTruncated`` is true.
  public init(maxIds: Int = .max) { self.maxIds = maxIds }

  /// The ids in an app receipt: Base64 of PKCS#7.
  public func appReceipt(_ text: String) throws(Failure) -> [Found] { try appReceiptContents(text).found }

  /// The content of an app receipt: the ids and the app's bundle id.
  public func appReceiptContents(_ text: String) throws(Failure) -> Contents {
    guard text.utf8.count <= Self.limit else { throw .tooLarge(limit: Self.limit) }
    guard let bytes = Base64.decode(String(text.filter { !$0.isNewline })) else { throw .notBase64 }
    do throws(DERReader.Failure) { return try purchases(bytes) } catch {
      throw .malformed("not a PKCS#7 app receipt")
    }
  }

  /// The ids in a transaction receipt, the older format: Base64 of a property list whose `purchase-info` is Base64 of a second one.
  public func transactionReceipt(_ text: String) throws(Failure) -> [Found] { try transactionReceiptContents(text).found }

  /// The content of a transaction receipt: the ids and the app's bundle id.
  public func transactionReceiptContents(_ text: String) throws(Failure) -> Contents {
    guard text.utf8.count <= Self.limit else { throw .tooLarge(limit: Self.limit) }
    guard let outer = Base64.decode(String(text.filter { !$0.isNewline })) else { throw .notBase64 }
    let receipt = String(decoding: outer, as: UTF8.self)
    guard receipt.first(where: { !$0.isWhitespace }) == "{" else { throw .malformed("not a transaction receipt") }
    var contents = Contents()
    // A receipt without `purchase-info` has no purchase, which is not an error.
    guard receipt.contains("\"purchase-info\"") else { return contents }
    guard let encoded = Self.value(of: "purchase-info", in: receipt), let inner = Base64.decode(encoded) else {
      throw .malformed("purchase-info is not Base64")
    }
    let list = String(decoding: inner, as: UTF8.self)
    contents.bundleId = Self.value(
      of: "bid", in: list, isAllowed: { Self.isBase64($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") })
    if let id = Self.value(of: "original-transaction-id", in: list) {
      contents.add(Found(id: id, kind: .originalTransactionId, location: "purchase-info.original-transaction-id"), maxIds: maxIds)
    }
    if let id = Self.value(of: "transaction-id", in: list) {
      contents.add(Found(id: id, kind: .transactionId, location: "purchase-info.transaction-id"), maxIds: maxIds)
    }
    return contents
  }

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
