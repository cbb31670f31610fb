#ifndef COPENSSL_MODULAR_INVERSE_H
#define COPENSSL_MODULAR_INVERSE_H
#include <stddef.h>
#include <stdint.h>

/* Computes inverses modulo an odd number of up to 384 bits with the division steps of Bernstein and Yang ("Fast constant-time gcd
   computation and modular inversion", 2019), 62 steps at a time. The time depends on the value, so these functions must not be used for
   secrets. */

/* A number is stored in limbs of 62 bits. This many hold 384 bits and a sign. */
enum { COPENSSL_INVERSE_LIMBS = 7 };

typedef struct {
  /* The modulus, the lowest limb first. */
  int64_t limbs[COPENSSL_INVERSE_LIMBS];
  /* The number of its bytes. */
  size_t width;
  /* The number of limbs that a calculation modulo this number needs. */
  int count;
  /* The inverse of the modulus' lowest 62 bits, modulo 2^62. */
  uint64_t inverse;
} copenssl_modulus;

/* Sets the modulus from `width` bytes, big endian. Returns 1, or 0 if it is even, empty or wider than 48 bytes. */
int copenssl_modulus_set(copenssl_modulus *self, const uint8_t *bytes, size_t width);

/* Computes the inverse of a value that is less than the modulus. Both have the modulus' width, big endian. Returns 1, or 0 if the value has
   no inverse. */
int copenssl_modular_inverse(const copenssl_modulus *modulus, const uint8_t *value, uint8_t *inverse);
#endif
