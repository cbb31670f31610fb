import COpenSSL
import Foundation
import TestSupport
import Testing

@testable import Cryptography

@Suite("Inverses modulo an odd number") struct ModularInverseTests {
  /// OpenSSL's result. The product falls back to OpenSSL if its own result is wrong, so both are compared here.
  private func inverseByOpenSSL(_ value: [UInt8], _ modulus: [UInt8]) -> [UInt8]? {
    let (number, order) = (BN_bin2bn(value, Int32(value.count), nil), BN_bin2bn(modulus, Int32(modulus.count), nil))
    let (context, result) = (BN_CTX_new(), BN_new())
    defer {
      BN_free(number)
      BN_free(order)
      BN_free(result)
      BN_CTX_free(context)
      ERR_clear_error()
    }
    guard BN_mod_inverse(result, number, order, context) != nil else { return nil }
    var bytes = [UInt8](repeating: 0, count: modulus.count)
    BN_bn2binpad(result, &bytes, Int32(bytes.count))
    return bytes
  }

  private func inverse(_ value: [UInt8], _ modulus: [UInt8]) -> [UInt8]? {
    var prepared = copenssl_modulus()
    guard copenssl_modulus_set(&prepared, modulus, modulus.count) == 1 else { return nil }
    var bytes = [UInt8](repeating: 0, count: modulus.count)
    return copenssl_modular_inverse(&prepared, value, &bytes) == 1 ? bytes : nil
  }

  private static var count: Int { ProcessInfo.processInfo.environment["ATTRIBUTION_SOAK"] == nil ? 3000 : 3_000_000 }

  @Test("for the orders of curves every result equals OpenSSL's", arguments: [Curve.p192, .p256, .p384])
  func orders(curve: Curve) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededRandom(seed: seed)
    let order = curve.order
    var values: [[UInt8]] = []
    for byte in 0..<curve.width {
      for bit in 0..<8 {
        // A power of two, all bits below it, and the order with this bit changed.
        var (power, below, changed) = ([UInt8](repeating: 0, count: curve.width), [UInt8](repeating: 0, count: curve.width), order)
        power[byte] = 1 << UInt8(bit)
        for later in byte..<curve.width { below[later] = later == byte ? power[byte] - 1 : 0xFF }
        changed[byte] ^= power[byte]
        values += [power, below, changed]
      }
    }
    for last in 0...50 as ClosedRange<UInt8> {
      var less = order
      less[curve.width - 1] &-= last
      values += [[UInt8](repeating: 0, count: curve.width - 1) + [last], less]
    }
    for _ in 0..<Self.count { values.append(random.bytes(curve.width)) }
    var found = 0
    for value in values where value.lexicographicallyPrecedes(order) {
      let ours = inverse(value, order)
      #expect(ours == inverseByOpenSSL(value, order), "seed \(seed), value \(Hex.encode(value))")
      if ours != nil { found += 1 }
    }
    // Every value except zero has an inverse, because an order is prime.
    #expect(found == values.filter { $0.lexicographicallyPrecedes(order) && $0.contains { $0 != 0 } }.count)
  }

  @Test("for odd numbers of any width, an inverse is found if it exists")
  func anyModulus() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededRandom(seed: seed)
    var (found, none) = (0, 0)
    for _ in 0..<Self.count {
      let width = Int.random(in: 1...48, using: &random)
      var modulus = random.bytes(width)
      modulus[width - 1] |= 1
      // The modulus is greater than one.
      modulus[0] |= width == 1 ? 3 : 1
      let value = random.bytes(width)
      guard value.lexicographicallyPrecedes(modulus) else { continue }
      let ours = inverse(value, modulus)
      #expect(ours == inverseByOpenSSL(value, modulus), "seed \(seed), value \(Hex.encode(value)), modulus \(Hex.encode(modulus))")
      if ours == nil { none += 1 } else { found += 1 }
    }
    #expect(found > 0 && none > 0)
  }

  @Test("an even modulus, an empty one and one that is too wide are refused")
  func refused() {
    var prepared = copenssl_modulus()
    #expect(copenssl_modulus_set(&prepared, [8], 1) == 0)
    #expect(copenssl_modulus_set(&prepared, [], 0) == 0)
    #expect(copenssl_modulus_set(&prepared, [UInt8](repeating: 0xFF, count: 49), 49) == 0)
    #expect(copenssl_modulus_set(&prepared, [UInt8](repeating: 0xFF, count: 48), 48) == 1)
  }
}
