#ifndef COPENSSL_MODULAR_INVERSE_H
#define COPENSSL_MODULAR_INVERSE_H
#include <stddef.h>
#include <stdint.h>

/* Inverses modulo an odd number of up to 384 bits, by the division steps of Bernstein and Yang ("Fast constant-time gcd computation and
   modular inversion", 2019), 62 at a time. What time they take tells the value: for what is no secret. */

/* Room for 384 bits with a sign, 62 in each place. */
enum { COPENSSL_INVERSE_PLACES = 7 };

typedef struct {
  /* Little endian. */
  int64_t places[COPENSSL_INVERSE_PLACES];
  size_t width;
  int count;
  /* That of its lowest 62 bits, modulo 2^62. */
  uint64_t inverse;
} copenssl_modulus;

/* From so many bytes, big endian. 0 when it is even or too wide. */
int copenssl_modulus_set(copenssl_modulus *self, const uint8_t *bytes, size_t width);

/* Value and inverse are as wide as the modulus, big endian, the value less than it. 0 when there is no inverse. */
int copenssl_modular_inverse(const copenssl_modulus *modulus, const uint8_t *value, uint8_t *inverse);
#endif
