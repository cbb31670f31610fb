import Foundation
import Testing
import WireJSON

@testable import attributionctl

@Suite("Verification")
struct VerificationTests {
  static let vectors = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
    "Vectors")

  private func vector(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: Self.vectors.appendingPathComponent(name))) }

  @Test(
    "the kind of a text is recognised by its format",
    arguments: [
      ("appstore/jws/notification-renew-valid.jws", "App Store notification"),
      ("appstore/jws/transaction-valid.jws", "App Store transaction"),
      ("appstore/jws/renewal-valid.jws", "App Store renewal information"),
    ])
  func jws(file: String, name: String) throws {
    let bytes = try vector(file)
    #expect(try SignedInput(bytes).name == name)
    // The same as a JSON string.
    let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(try SignedInput(Array("\"\(text)\"\n".utf8)).name == name)
  }

  @Test(
    "the kind of JSON is recognised by its members",
    arguments: [
      (#"{"jws-string":"a.b.c"}"#, "AdAttributionKit postback"),
      (#"{"attribution-signature":"x","transaction-id":"y"}"#, "SKAdNetwork postback"),
      (#"{"transaction-id":"y"}"#, "SKAdNetwork postback"), (#"{"signedPayload":"x"}"#, "App Store notification"),
      (#"{"signedTransactionInfo":"x"}"#, "App Store transaction"), (#"{"adNetworkId":"a","signature":"x"}"#, "SKAdNetwork impression"),
      (#"{"status":0,"receipt":{}}"#, "answer of verifyReceipt"),
    ])
  func json(text: String, name: String) throws { #expect(try SignedInput(Array(text.utf8)).name == name) }

  @Test(
    "input of no known kind is refused with a reason",
    arguments: [
      ("", "empty"), ("  \n", "empty"), ("{", "JSON"), (#"{"a":1}"#, "its members are a"), ("hello world!", "neither JSON"),
      ("a.b.c", "neither JSON"),
    ])
  func nothing(text: String, word: String) {
    let error = #expect(throws: CommandFailure.self) { try SignedInput(Array(text.utf8)) }
    #expect(error?.message.contains(word) == true && error?.code == 65, "\(error?.message ?? "")")
  }

  @Test("Apple's example is valid by the built-in keys, and invalid after one change")
  func postback() throws {
    let verifier = OfflineVerifier()
    let right = try verifier.verify(try SignedInput(Array(TestPostback.text.utf8)))
    #expect(right.valid == true && right.environment == "production")
    #expect(right.unsigned?.keys == ["conversion-value"])
    let wrong = try verifier.verify(try SignedInput(Array(TestPostback.text.replacing("5239", with: "5238").utf8)))
    #expect(wrong.valid == false && wrong.reason?.hasPrefix("bad_signature") == true)
  }

  @Test("data under another root is invalid offline")
  func foreignRoot() throws {
    let verdict = try OfflineVerifier().verify(try SignedInput(try vector("appstore/jws/notification-renew-valid.jws")))
    #expect(verdict.valid == false && verdict.reason == "chain_invalid")
  }

  @Test("an impression requires a public key; a receipt is not verified, but its ids are shown")
  func others() throws {
    let impression = try SignedInput(Array(#"{"adNetworkId":"a","signature":"x"}"#.utf8))
    let error = #expect(throws: CommandFailure.self) { try OfflineVerifier().verify(impression) }
    #expect(error?.message.contains("--public-key") == true)
    let receipt = try SignedInput(
      Array(#"{"receipt":{"in_app":[{"original_transaction_id":"1","transaction_id":"2"},{"original_transaction_id":"1"}]}}"#.utf8))
    let told = try OfflineVerifier().verify(receipt)
    #expect(told.valid == nil)
    #expect(told.content == ["originalTransactionIds": ["1"], "transactionIds": ["2"]])
  }
}
