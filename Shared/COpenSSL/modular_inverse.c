#include "ModularInverse.h"

#include <string.h>

enum { BITS = 62, LIMBS = COPENSSL_INVERSE_LIMBS };
#define MASK (((uint64_t)1 << BITS) - 1)

typedef __int128 wide;

/* A signed number, the lowest limb first. The highest limb has the sign. All others are from 0 to 2^62 - 1. */
typedef struct {
  int64_t limbs[LIMBS];
} number;

/* The effect of 62 division steps on the numbers f and g as a matrix: the new f is (ff f + fg g) / 2^62, the new g (gf f + gg g) / 2^62. */
typedef struct {
  int64_t ff, fg, gf, gg;
} step_matrix;

static void read_number(int64_t *limbs, const uint8_t *bytes, size_t width) {
  unsigned __int128 rest = 0;
  int bits = 0, limb = 0;
  memset(limbs, 0, LIMBS * sizeof(*limbs));
  for (size_t at = width; at > 0; at--) {
    rest |= (unsigned __int128)bytes[at - 1] << bits;
    bits += 8;
    if (bits >= BITS) {
      limbs[limb++] = (int64_t)((uint64_t)rest & MASK);
      rest >>= BITS;
      bits -= BITS;
    }
  }
  if (bits > 0) limbs[limb] = (int64_t)rest;
}

static void write_number(uint8_t *bytes, size_t width, const int64_t *limbs) {
  unsigned __int128 rest = 0;
  int bits = 0, limb = 0;
  for (size_t at = width; at > 0; at--) {
    if (bits < 8 && limb < LIMBS) {
      rest |= (unsigned __int128)(uint64_t)limbs[limb++] << bits;
      bits += BITS;
    }
    bytes[at - 1] = (uint8_t)rest;
    rest >>= 8;
    bits -= 8;
  }
}

int copenssl_modulus_set(copenssl_modulus *self, const uint8_t *bytes, size_t width) {
  memset(self, 0, sizeof(*self));
  if (width == 0 || width > 48 || (bytes[width - 1] & 1) == 0) return 0;
  self->width = width;
  /* Values in a calculation are between minus twice the modulus and the modulus, so they have two bits more than the modulus. */
  self->count = (int)((width * 8 + 2 + BITS - 1) / BITS);
  read_number(self->limbs, bytes, width);
  /* Newton's method: an odd number is its own inverse modulo 2^3, and each round doubles the number of correct bits. */
  uint64_t low = (uint64_t)self->limbs[0], inverse = low;
  for (int bits = 3; bits < BITS; bits *= 2) inverse *= 2 - low * inverse;
  self->inverse = inverse & MASK;
  return 1;
}

/* Computes the next 62 steps from the lowest 64 bits of f and g; f is odd. `delta` is that of the paper named in ModularInverse.h. Returns
   the value of `delta` after the steps. */
static int64_t next_steps(int64_t delta, uint64_t f, uint64_t g, step_matrix *matrix) {
  uint64_t ff = 1, fg = 0, gf = 0, gg = 1;
  int left = BITS;
  for (;;) {
    /* Halves g while it is even, but at most `left` times, because each halving is one of the 62 steps. */
    int zeros = __builtin_ctzll(g | (uint64_t)1 << left);
    g >>= zeros;
    ff <<= zeros;
    fg <<= zeros;
    delta += zeros;
    left -= zeros;
    if (left == 0) break;
    if (delta > 0) {
      uint64_t old = f, old_f = ff, old_g = fg;
      delta = -delta;
      f = g, ff = gf, fg = gg;
      g = -old, gf = -old_f, gg = -old_g;
    }
    /* The next 1 - delta steps do not exchange f and g. They only add multiples of f to g and halve g. Here one multiple of f is added that
       makes the lowest bits of g zero: one bit for each of these steps, but at most 6. The factor is -g / f modulo 64: the inverse of f
       modulo 64 is f (2 - f^2). */
    int64_t max_bits = 1 - delta < left ? 1 - delta : left;
    uint64_t mask = max_bits < 6 ? ((uint64_t)1 << max_bits) - 1 : 63;
    uint64_t factor = (g * f * (f * f - 2)) & mask;
    g += f * factor;
    gf += ff * factor;
    gg += fg * factor;
  }
  *matrix = (step_matrix){.ff = (int64_t)ff, .fg = (int64_t)fg, .gf = (int64_t)gf, .gg = (int64_t)gg};
  return delta;
}

/* Applies the steps to f and g. The lowest 62 bits of both sums are zero, so their lowest limb is dropped to divide them by 2^62. */
static void apply(number *f, number *g, const step_matrix *matrix, int count) {
  wide a = (wide)matrix->ff * f->limbs[0] + (wide)matrix->fg * g->limbs[0];
  wide b = (wide)matrix->gf * f->limbs[0] + (wide)matrix->gg * g->limbs[0];
  for (int limb = 1; limb < count; limb++) {
    int64_t at_f = f->limbs[limb], at_g = g->limbs[limb];
    a = (a >> BITS) + (wide)matrix->ff * at_f + (wide)matrix->fg * at_g;
    b = (b >> BITS) + (wide)matrix->gf * at_f + (wide)matrix->gg * at_g;
    f->limbs[limb - 1] = (int64_t)((uint64_t)a & MASK);
    g->limbs[limb - 1] = (int64_t)((uint64_t)b & MASK);
  }
  f->limbs[count - 1] = (int64_t)(a >> BITS);
  g->limbs[count - 1] = (int64_t)(b >> BITS);
}

/* Applies the same steps to d and e, modulo the modulus. To each sum, the multiple of the modulus is added that makes the lowest 62 bits
   zero. Then the sum is divided by 2^62. Both numbers stay greater than minus twice the modulus and less than the modulus. */
static void apply_modulo(number *d, number *e, const step_matrix *matrix, const copenssl_modulus *modulus) {
  int count = modulus->count;
  const int64_t *n = modulus->limbs;
  /* To a negative number, the modulus is added first. */
  int64_t d_sign = -(int64_t)((uint64_t)d->limbs[count - 1] >> 63), e_sign = -(int64_t)((uint64_t)e->limbs[count - 1] >> 63);
  int64_t for_d = (matrix->ff & d_sign) + (matrix->fg & e_sign);
  int64_t for_e = (matrix->gf & d_sign) + (matrix->gg & e_sign);
  wide a = (wide)matrix->ff * d->limbs[0] + (wide)matrix->fg * e->limbs[0];
  wide b = (wide)matrix->gf * d->limbs[0] + (wide)matrix->gg * e->limbs[0];
  for_d -= (int64_t)((modulus->inverse * (uint64_t)a + (uint64_t)for_d) & MASK);
  for_e -= (int64_t)((modulus->inverse * (uint64_t)b + (uint64_t)for_e) & MASK);
  a += (wide)n[0] * for_d;
  b += (wide)n[0] * for_e;
  for (int limb = 1; limb < count; limb++) {
    int64_t at_d = d->limbs[limb], at_e = e->limbs[limb];
    a = (a >> BITS) + (wide)matrix->ff * at_d + (wide)matrix->fg * at_e + (wide)n[limb] * for_d;
    b = (b >> BITS) + (wide)matrix->gf * at_d + (wide)matrix->gg * at_e + (wide)n[limb] * for_e;
    d->limbs[limb - 1] = (int64_t)((uint64_t)a & MASK);
    e->limbs[limb - 1] = (int64_t)((uint64_t)b & MASK);
  }
  d->limbs[count - 1] = (int64_t)(a >> BITS);
  e->limbs[count - 1] = (int64_t)(b >> BITS);
}

static int is_zero(const number *self, int count) {
  int64_t any = 0;
  for (int limb = 0; limb < count; limb++) any |= self->limbs[limb];
  return any == 0;
}

/* self = sign * self + times * modulus */
static void combine(number *self, int64_t sign, int64_t times, const copenssl_modulus *modulus) {
  wide rest = 0;
  for (int limb = 0; limb < modulus->count; limb++) {
    rest += (wide)sign * self->limbs[limb] + (wide)times * modulus->limbs[limb];
    int is_last = limb == modulus->count - 1;
    self->limbs[limb] = is_last ? (int64_t)rest : (int64_t)((uint64_t)rest & MASK);
    rest >>= BITS;
  }
}

int copenssl_modular_inverse(const copenssl_modulus *modulus, const uint8_t *value, uint8_t *inverse) {
  int count = modulus->count;
  number f, g = {{0}}, d = {{0}}, e = {{1}};
  memcpy(f.limbs, modulus->limbs, sizeof(f.limbs));
  read_number(g.limbs, value, modulus->width);
  int64_t delta = 1;
  /* 19 rounds are 1,178 steps. The paper proves that (49 * 384 + 57) / 17 steps, 1,110, are enough for 384 bits. */
  for (int round = 0; round < 19 && !is_zero(&g, count); round++) {
    step_matrix matrix;
    delta = next_steps(delta, (uint64_t)f.limbs[0] | (uint64_t)f.limbs[1] << BITS, (uint64_t)g.limbs[0] | (uint64_t)g.limbs[1] << BITS,
                       &matrix);
    apply_modulo(&d, &e, &matrix, modulus);
    apply(&f, &g, &matrix, count);
  }
  if (!is_zero(&g, count)) return 0;
  /* Now f is the greatest common divisor of modulus and value, or its negative, and d times the value is f modulo the modulus. */
  int64_t sign = f.limbs[count - 1] < 0 ? -1 : 1;
  combine(&f, sign, 0, modulus);
  number one = {{1}};
  if (memcmp(f.limbs, one.limbs, (size_t)count * sizeof(*f.limbs)) != 0) return 0;
  if (d.limbs[count - 1] < 0) combine(&d, 1, 1, modulus);
  if (sign < 0) combine(&d, -1, 0, modulus);
  if (d.limbs[count - 1] < 0) combine(&d, 1, 1, modulus);
  write_number(inverse, modulus->width, d.limbs);
  return 1;
}
