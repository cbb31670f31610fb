import Testing

@testable import AttributionQueue

@Suite("Requests for consumption information")
struct ConsumptionRequestsTests {
  @Test("the newest request of a transaction is found, whatever the order of arrival, in its app and environment only")
  func newest() async throws {
    let redis = try RedisServer()
    let client = try await redis.client()
    let requests = ConsumptionRequests(redis: client)
    func add(_ date: Int64, environment: String = "Production") async throws {
      try await requests.add(
        .init(signedDate: date, productType: "Auto-Renewable Subscription"), bundleId: "a", environment: environment, transactionId: "1")
    }
    for date in [1_790_000_000_000, 1_790_000_000_777, 1_780_000_000_000] as [Int64] { try await add(date) }
    try await add(1_795_000_000_000, environment: "Sandbox")
    let found = try await requests.newest(bundleId: "a", environment: "Production", transactionId: "1")
    #expect(found == .init(signedDate: 1_790_000_000_777, productType: "Auto-Renewable Subscription"))
    #expect(try await requests.newest(bundleId: "a", environment: "Production", transactionId: "2") == nil)
    #expect(try await requests.newest(bundleId: "b", environment: "Production", transactionId: "1") == nil)
    client.close()
  }
}
