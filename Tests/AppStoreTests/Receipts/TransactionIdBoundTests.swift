import Cryptography
import Testing
import WireJSON

@testable import AppStore

/// A value encoded as DER.
private func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
  let count = content.count
  let length: [UInt8] = count < 128 ? [UInt8(count)] : [0x83, UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
  return [tag] + length + content
}

private func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
  der(0x30, der(0x02, [UInt8(type >> 8), UInt8(type & 0xFF)]) + der(0x02, [1]) + der(0x04, value))
}

/// An app receipt with the given number of purchases, followed by the app's bundle id.
private func receipt(purchases: Int) -> String {
  var content: [UInt8] = []
  for number in 0..<purchases { content += attribute(17, der(0x31, attribute(1703, der(0x0C, Array("\(number)".utf8))))) }
  content += attribute(2, der(0x0C, Array("com.example.app".utf8)))
  let data = der(0x30, der(0x06, [0x2A]) + der(0xA0, der(0x04, der(0x31, content))))
  let signed = der(0x30, der(0x02, [1]) + der(0x31, []) + data)
  return Base64.encode(der(0x30, der(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]) + der(0xA0, signed)))
}

@Suite("The limit of ids that are read from a receipt") struct TransactionIdBoundTests {
  @Test(
    "the first ids up to the limit are returned, with a flag if there are more, and with the bundle id", arguments: [1, 2, 5, 999])
  func bound(_ count: Int) throws {
    let all = try TransactionIdExtractor(maxIds: count).appReceiptContents(receipt(purchases: count))
    #expect(all.found.map(\.id) == (0..<count).map(String.init) && !all.isTruncated)
    let some = try TransactionIdExtractor(maxIds: count).appReceiptContents(receipt(purchases: count + 1))
    #expect(some.found == all.found && some.isTruncated)
    #expect(some.bundleId == "com.example.app")
    #expect(try TransactionIdExtractor().appReceipt(receipt(purchases: count)).count == count)
  }

  @Test("the limit applies to all lists of a verifyReceipt response together")
  func response() throws {
    let answer: JSONObject = [
      "receipt": ["bundle_id": "com.example.app", "in_app": [["original_transaction_id": "1", "transaction_id": "2"]]],
      "latest_receipt_info": [["original_transaction_id": "3"]], "pending_renewal_info": [["original_transaction_id": "4"]],
    ]
    let all = TransactionIdExtractor(maxIds: 4).verifyReceiptContents(answer)
    #expect(all.found.map(\.id) == ["1", "2", "3", "4"] && !all.isTruncated && all.bundleId == "com.example.app")
    let some = TransactionIdExtractor(maxIds: 3).verifyReceiptContents(answer)
    #expect(some.found.map(\.id) == ["1", "2", "3"] && some.isTruncated)
  }

  @Test("a verifyReceipt response for a transaction receipt has its ids in objects instead of lists")
  func answerToTransactionReceipt() {
    let answer: JSONObject = [
      "receipt": ["bid": "com.example.app", "original_transaction_id": "1", "transaction_id": "2"],
      "latest_receipt_info": ["original_transaction_id": "1", "transaction_id": "3"],
    ]
    let contents = TransactionIdExtractor().verifyReceiptContents(answer)
    #expect(contents.bundleId == "com.example.app")
    #expect(contents.found.map(\.id) == ["1", "2", "1", "3"])
    #expect(contents.found.map(\.location).first == "receipt.original_transaction_id")
    #expect(contents.found.map(\.location).last == "latest_receipt_info.transaction_id")
    for odd in ["x", 5, .null, [], [:], [["a"]]] as [JSONValue] {
      #expect(TransactionIdExtractor().verifyReceiptResponse(["receipt": odd, "latest_receipt_info": odd]).isEmpty)
    }
  }

  @Test("line breaks in a transaction receipt do not matter")
  func lines() throws {
    let text = AppStoreVectors.text("apple/legacyTransaction")
    let cut = text.enumerated().map { $0.offset % 64 == 63 ? "\($0.element)\r\n" : "\($0.element)" }.joined()
    #expect(try TransactionIdExtractor().transactionReceipt(cut) == TransactionIdExtractor().transactionReceipt(text))
  }

  @Test("a transaction receipt without a purchase or without an id has no ids; an unreadable purchase is refused")
  func withoutPurchase() throws {
    func receipt(_ list: String) -> String { Base64.encode(Array(list.utf8)) }
    func found(_ list: String) throws -> [TransactionIdExtractor.Found] { try TransactionIdExtractor().transactionReceipt(receipt(list)) }
    for list in ["{ \"signature\" = \"x\"; }", "\n{}", "{ \"purchase-info\" = \"\(receipt("{ \"product-id\" = \"p\"; }"))\"; }"] {
      #expect(try found(list).isEmpty, "\(list)")
    }
    #expect(try found("{ \"purchase-info\" = \"\(receipt("{ \"transaction-id\" = \"7\"; }"))\"; }").map(\.id) == ["7"])
    for list in ["{ \"purchase-info\" = \"A\"; }", "{ \"purchase-info\" = \"a b\"; }", "{ \"purchase-info\" = \"\"; }"] {
      #expect(throws: TransactionIdExtractor.Failure.malformed("purchase-info is not Base64")) { try found(list) }
    }
    // Otherwise a receipt of another kind would count as one without a purchase.
    for list in ["", "anything", "\"purchase-info\" = \"AAAA\";", "0\u{80}\u{06}"] {
      #expect(throws: TransactionIdExtractor.Failure.malformed("not a transaction receipt")) { try found(list) }
    }
  }

  @Test("a receipt of the maximum size with the shortest ids is read completely or truncated, and one byte more is refused")
  func largest() throws {
    let limit = TransactionIdExtractor.limit
    let text = receipt(purchases: 80_000)
    #expect(text.utf8.count <= limit)
    #expect(try TransactionIdExtractor().appReceipt(text).count == 80_000)
    #expect(try TransactionIdExtractor(maxIds: 20_000).appReceiptContents(text).found.count == 20_000)
    let padded = text + String(repeating: "\n", count: limit - text.utf8.count)
    #expect(try TransactionIdExtractor(maxIds: 1).appReceiptContents(padded).isTruncated)
    #expect(throws: TransactionIdExtractor.Failure.tooLarge(limit: limit)) { try TransactionIdExtractor().appReceipt(padded + "\n") }
  }
}
