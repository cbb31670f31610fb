#ifndef BATCH_SIGNING_FAULTS_H
#define BATCH_SIGNING_FAULTS_H

#include <stddef.h>
#include <stdint.h>

/// What happens inside of a batch of signatures that random input never meets.
enum batch_fault {
  BATCH_FAULT_NONE,
  /// The nonce that is drawn for the third signature is zero.
  BATCH_FAULT_ZERO_NONCE,
  /// The point of the third signature has an x of at least the group's order.
  BATCH_FAULT_X_PAST_ORDER,
  /// The point of the third signature has an x of zero, so that the first number of its signature would be zero.
  BATCH_FAULT_ZERO_R,
  /// The digest of the third signature makes its second number zero.
  BATCH_FAULT_ZERO_S,
  /// The point of the third signature is the point at infinity.
  BATCH_FAULT_INFINITY,
  /// A bit of the nonces' shared inverse is wrong.
  BATCH_FAULT_ORDER_INVERSE,
  /// A bit of the Z coordinates' shared inverse is wrong.
  BATCH_FAULT_FIELD_INVERSE,
};

struct batch_outcome {
  /// What `copenssl_sign_batch` returned.
  int returned;
  /// How many of the signatures verify with their keys over their digests.
  size_t verifying;
  /// The first error that OpenSSL has noted and nobody has cleared, or 0.
  unsigned long error;
  /// The first number of the third signature.
  uint8_t r[32];
};

/// Signs `count` digests (5 to 64) with keys of their own by the product's code, with a fault.
struct batch_outcome batch_sign_with_fault(enum batch_fault fault, size_t count);

/// Signs these digests of 32 bytes, `count` of them (at most 64), without a fault.
struct batch_outcome batch_sign_digests(const uint8_t *digests, size_t count);

/// Signs the same digests twice, with the nonces' random bytes of the first time in the second. Returns how many first numbers of the second
/// time are among those of the first: all where the digests are the same, none where `changes_digests`.
size_t batch_sign_with_repeated_random_bytes(size_t count, int changes_digests);

#endif
