import COpenSSL
import Synchronization

/// Random bytes of OpenSSL's generator, which is seeded by the system.
public enum RandomBytes {
  /// Bytes generated in advance, because one call for many costs hardly more than one for a few. They are for identifiers and not for
  /// secrets, because they are in memory before their use.
  private struct Pool {
    var bytes: [UInt8] = []
    var used = 0
  }

  private static let poolSize = 4096
  private static let pool = Mutex(Pool())

  public static func make(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      // OpenSSL's generator fails only if the system provides no entropy; then nothing can be done safely.
      precondition(RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "no random bytes are available")
      filled = count
    }
  }

  /// Three random words, for identifiers.
  public static func words() -> (UInt64, UInt64, UInt64) {
    pool.withLock { pool in
      if pool.used + 24 > pool.bytes.count {
        pool.bytes = make(poolSize)
        pool.used = 0
      }
      defer { pool.used += 24 }
      return pool.bytes.withUnsafeBytes { bytes in
        (
          bytes.loadUnaligned(fromByteOffset: pool.used, as: UInt64.self),
          bytes.loadUnaligned(fromByteOffset: pool.used + 8, as: UInt64.self),
          bytes.loadUnaligned(fromByteOffset: pool.used + 16, as: UInt64.self)
        )
      }
    }
  }

  /// A random UUID (version 4), lower case with hyphens.
  public static func uuid() -> String {
    let words = words()
    let high = words.0 & ~0xF000 | 0x4000
    let low = words.1 & ~(0b11 << 62) | 0b10 << 62
    return String(unsafeUninitializedCapacity: 36) { buffer in
      var at = 0
      for index in 0..<32 {
        if index == 8 || index == 12 || index == 16 || index == 20 {
          buffer[at] = UInt8(ascii: "-")
          at += 1
        }
        let word = index < 16 ? high : low
        let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (index % 16))) & 0xF
        buffer[at] = digit < 10 ? 48 + digit : 87 + digit
        at += 1
      }
      return at
    }
  }
}
