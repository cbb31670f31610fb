#ifndef COPENSSL_MODULAR_INVERSE_H
#define COPENSSL_MODULAR_INVERSE_H
#include <stddef.h>
#include <stdint.h>

/* Inverses modulo an odd number of up to 384 bits, by the division steps of Bernstein and Yang ("Fast constant-time gcd computation and
   modular inversion", 2019), 62 at a time. The time depends on the value, so these functions must not be used for secrets. */

/* Space for 384 bits with a sign, 62 bits in each place. */
enum { COPENSSL_INVERSE_PLACES = 7 };

typedef struct {
  /* Little endian. */
  int64_t places[COPENSSL_INVERSE_PLACES];
  size_t width;
  int count;
  /* The inverse of the modulus' lowest 62 bits, modulo 2^62. */
  uint64_t inverse;
} copenssl_modulus;

/* Sets the modulus from that number of bytes, big endian. Returns 0 if it is even or too wide. */
int copenssl_modulus_set(copenssl_modulus *self, const uint8_t *bytes, size_t width);

/* Value and inverse have the modulus' width, big endian; the value is less than the modulus. Returns 0 if there is no inverse. */
int copenssl_modular_inverse(const copenssl_modulus *modulus, const uint8_t *value, uint8_t *inverse);
#endif
