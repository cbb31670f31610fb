import Testing

@testable import AppStore

@Suite struct CommerceChangeTests {
  @Test(
    arguments: [
      ("METADATA_UPDATE", CommerceChange.metadata), ("MIGRATION", .migration), ("MIGRATE", .migration), ("PRICE_CHANGE", .price),
      ("PRICE_INCREASE", nil), ("migration", nil), ("", nil),
    ] as [(String, CommerceChange?)])
  func `The type of a notification tells which change a server requested, in both spellings of a migration`(
    type: String, change: CommerceChange?
  ) {
    #expect(CommerceChange(notificationType: type) == change)
  }
}
