import AppStore
import AttributionProtocol
import ServiceRuntime

/// `ExtractTransactionIds`: finds transaction ids in a receipt. The receipt is not verified.
struct ExtractTransactionIdsHandler: RPCHandler {
  typealias Method = VerifierService.ExtractTransactionIds

  /// The maximum number of ids that are returned for a receipt.
  let maxIds: Int

  func handle(_ request: ExtractTransactionIdsRequest, _ context: RPCContext) async throws(RPCError)
    -> ExtractTransactionIdsResponse
  {
    let formats = [request.appReceipt != nil, request.transactionReceipt != nil, request.verifyReceiptResponse != nil]
      .count { $0 }
    guard formats == 1 else {
      throw .invalidArgument(
        field: "appReceipt", "exactly one of appReceipt, transactionReceipt and verifyReceiptResponse is needed")
    }
    let extractor = TransactionIdExtractor(maxIds: maxIds)
    let field = request.appReceipt != nil ? "appReceipt" : "transactionReceipt"
    let contents: TransactionIdExtractor.Contents
    do throws(TransactionIdExtractor.Failure) {
      if let receipt = request.appReceipt {
        contents = try extractor.appReceiptContents(receipt)
      } else if let receipt = request.transactionReceipt {
        contents = try extractor.transactionReceiptContents(receipt)
      } else {
        contents = extractor.verifyReceiptContents(request.verifyReceiptResponse ?? [:])
      }
    } catch {
      switch error {
      case .notBase64: throw .invalidArgument(field: field, "is not Base64")
      case .malformed(let reason): throw .invalidArgument(field: field, reason)
      case .tooLarge(let limit): throw .invalidArgument(field: field, "is larger than \(limit) bytes")
      }
    }
    var response = ExtractTransactionIdsResponse()
    var originals: Set<String> = []
    var others: Set<String> = []
    response.truncated = contents.isTruncated
    for id in contents.found {
      response.found.append(FoundTransactionId(id: id.id, kind: id.kind.rawValue, location: id.location))
      switch id.kind {
      case .originalTransactionId: if originals.insert(id.id).inserted { response.originalTransactionIds.append(id.id) }
      case .transactionId, .appTransactionId: if others.insert(id.id).inserted { response.transactionIds.append(id.id) }
      }
    }
    return response
  }
}
