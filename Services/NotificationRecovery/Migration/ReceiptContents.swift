import AppStore
import AttributionProtocol
import WireJSON

/// The transaction ids in a receipt. The receipt is not verified, so it is used only to look its purchases up at Apple.
struct ReceiptContents: Sendable, Hashable {
  let originalTransactionIds: [String]
  /// The transaction ids; of a signed app transaction, its id.
  let transactionIds: [String]

  /// Why a receipt cannot be migrated.
  struct Failure: Error, Hashable {
    enum Reason: String {
      case malformedReceipt = "malformed-receipt"
      case wrongApp = "wrong-app"
      /// Made by Xcode or its local testing, so Apple does not know the purchases.
      case xcodeReceipt = "xcode-receipt"
      /// The caller sent an answer of Apple's `verifyReceipt` that refuses the receipt.
      case refused
    }
    let reason: Reason
    let message: String
    /// The `status` in the answer of `verifyReceipt`; nil for other reasons.
    var errorCode: Int64?

    static let xcode = Failure(reason: .xcodeReceipt, message: "is a receipt of Xcode, whose purchases Apple does not know")
  }

  /// The maximum length of an id, bytes.
  private static let maxIdBytes = 64

  init(_ receipt: ReceiptToMigrate, bundleId: String) throws(Failure) {
    let formats = [receipt.appReceipt != nil, receipt.transactionReceipt != nil, receipt.verifyReceiptResponse != nil].count { $0 }
    guard formats == 1 else {
      throw Failure(
        reason: .malformedReceipt, message: "exactly one of appReceipt, transactionReceipt and verifyReceiptResponse is needed")
    }
    let extractor = TransactionIdExtractor()
    let contents: TransactionIdExtractor.Contents
    do throws(TransactionIdExtractor.Failure) {
      if let text = receipt.appReceipt {
        contents = try extractor.appReceiptContents(text)
      } else if let text = receipt.transactionReceipt {
        contents = try extractor.transactionReceiptContents(text)
      } else {
        contents = extractor.verifyReceiptContents(receipt.verifyReceiptResponse ?? [:])
      }
    } catch {
      switch error {
      case .notBase64: throw Failure(reason: .malformedReceipt, message: "is not Base64")
      case .malformed(let reason): throw Failure(reason: .malformedReceipt, message: reason)
      case .tooLarge(let limit): throw Failure(reason: .malformedReceipt, message: "is larger than \(limit) bytes")
      }
    }
    if contents.isOfXcode { throw .xcode }
    if let named = contents.bundleId, named != bundleId { throw Failure(reason: .wrongApp, message: "the receipt belongs to another app") }
    var found = contents.found
    // Apple's ids are digits, so anything else cannot be requested.
    found.removeAll { $0.id.utf8.count > Self.maxIdBytes || !$0.id.utf8.allSatisfy { (48...57).contains($0) } }
    originalTransactionIds = Self.distinct(found, .originalTransactionId)
    let others = Self.distinct(found, .transactionId)
    transactionIds = others.isEmpty ? Self.distinct(found, .appTransactionId) : others
    if !ids.isEmpty, ids.allSatisfy(TransactionIdExtractor.isOfXcode) { throw .xcode }
    if ids.isEmpty, let status = receipt.verifyReceiptResponse?["status"]?.int64Value, status != 0 {
      throw Failure(reason: .refused, message: "verifyReceipt answered with status \(status) and no purchase", errorCode: status)
    }
  }

  private static func distinct(_ found: [TransactionIdExtractor.Found], _ kind: TransactionIdExtractor.Found.Kind) -> [String] {
    var seen: Set<String> = []
    return found.filter { $0.kind == kind && seen.insert($0.id).inserted }.map(\.id)
  }

  /// The ids with which the purchases are looked up: the original transaction ids, or the transaction ids if the receipt has no original
  /// ones.
  var ids: [String] { originalTransactionIds.isEmpty ? transactionIds : originalTransactionIds }
}
