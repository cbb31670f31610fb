import BatchSigningFaults
import Testing

/// Cases of batch signing that random input never reaches: the product's C code, with replaced functions of OpenSSL.
@Suite("Faults in batch signing", .serialized) struct BatchSigningFaultTests {
  private static let count = 16

  @Test("without a fault all signatures of a batch verify", arguments: [0, 1, 2, 3, 4, 5, 16, 64])
  func noFault(count: Int) {
    let digests = (0..<32 * count).map { _ in UInt8.random(in: 0...255) }
    let outcome = batch_sign_digests(digests, count)
    #expect(outcome.returned == 1)
    #expect(outcome.verifying == count)
    #expect(outcome.error == 0)
  }

  @Test(
    "a nonce of zero is replaced, a signature with a zero in it is made again, and all signatures verify",
    arguments: [BATCH_FAULT_ZERO_NONCE, BATCH_FAULT_ZERO_S])
  func zeros(fault: batch_fault) {
    let outcome = batch_sign_with_fault(fault, Self.count)
    #expect(outcome.returned == 1)
    #expect(outcome.verifying == Self.count)
    #expect(outcome.error == 0, "an error stays in OpenSSL's queue after a success")
  }

  @Test("a point with x = 0 gives no signature, and another nonce is used")
  func zeroR() {
    let outcome = batch_sign_with_fault(BATCH_FAULT_ZERO_R, Self.count)
    #expect(outcome.returned == 1)
    #expect(outcome.verifying == Self.count)
    #expect(outcome.error == 0)
  }

  /// The order of P-256 is less than the field's prime, so an x between them occurs once in 2^32 signatures.
  @Test("an x of at least the group's order is reduced by the order")
  func xPastOrder() {
    let outcome = batch_sign_with_fault(BATCH_FAULT_X_PAST_ORDER, Self.count)
    #expect(outcome.returned == 1)
    // The faulty point is not that of the nonce, so its signature does not verify; the others do.
    #expect(outcome.verifying == Self.count - 1)
    let r = withUnsafeBytes(of: outcome.r) { Array($0) }
    #expect(r.dropLast().allSatisfy { $0 == 0 })
    #expect(r.last! < 64, "the first x of a point past the order is near it")
  }

  @Test(
    "a wrong shared inverse, or the point at infinity, gives no signature",
    arguments: [BATCH_FAULT_ORDER_INVERSE, BATCH_FAULT_FIELD_INVERSE, BATCH_FAULT_INFINITY])
  func refused(fault: batch_fault) {
    let outcome = batch_sign_with_fault(fault, Self.count)
    #expect(outcome.returned == 0)
    #expect(outcome.verifying == 0)
  }

  @Test("digests at the edges of the group's order are signed")
  func digests() {
    // The order of P-256.
    let order: [UInt8] = [
      0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17,
      0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
    ]
    var below = order
    below[31] -= 1
    var above = order
    above[31] += 1
    let zero = [UInt8](repeating: 0, count: 32)
    let one = zero.dropLast() + [1]
    let edges = [zero, Array(one), below, order, above, [UInt8](repeating: 0xff, count: 32)]
    let outcome = batch_sign_digests(edges.flatMap { $0 }, edges.count)
    #expect(outcome.returned == 1)
    #expect(outcome.verifying == edges.count)
  }

  /// Two messages that are signed with one nonce reveal the private key.
  @Test("repeated random bytes, as after the restore of a snapshot, never give different messages the same nonce")
  func repeatedRandomBytes() {
    #expect(batch_sign_with_repeated_random_bytes(Self.count, 0) == Self.count, "the same messages have the same nonces")
    #expect(batch_sign_with_repeated_random_bytes(Self.count, 1) == 0)
  }
}
