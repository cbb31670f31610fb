#include "ModularInverse.h"

#include <string.h>

enum { BITS = 62, PLACES = COPENSSL_INVERSE_PLACES };
#define MASK (((uint64_t)1 << BITS) - 1)

typedef __int128 wide;

/* A signed number: all places but the highest are from 0 to 2^62 - 1. */
typedef struct {
  int64_t places[PLACES];
} number;

/* The effect of 62 division steps on a pair of numbers, times 2^62. */
typedef struct {
  int64_t ff, fg, gf, gg;
} steps;

static void read_number(int64_t *places, const uint8_t *bytes, size_t width) {
  unsigned __int128 rest = 0;
  int bits = 0, place = 0;
  memset(places, 0, PLACES * sizeof(*places));
  for (size_t at = width; at > 0; at--) {
    rest |= (unsigned __int128)bytes[at - 1] << bits;
    bits += 8;
    if (bits >= BITS) {
      places[place++] = (int64_t)((uint64_t)rest & MASK);
      rest >>= BITS;
      bits -= BITS;
    }
  }
  if (bits > 0) places[place] = (int64_t)rest;
}

static void write_number(uint8_t *bytes, size_t width, const int64_t *places) {
  unsigned __int128 rest = 0;
  int bits = 0, place = 0;
  for (size_t at = width; at > 0; at--) {
    if (bits < 8 && place < PLACES) {
      rest |= (unsigned __int128)(uint64_t)places[place++] << bits;
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
  /* The values in between are from minus twice the modulus to the modulus. */
  self->count = (int)((width * 8 + 2 + BITS - 1) / BITS);
  read_number(self->places, bytes, width);
  /* Newton's method: an odd number is its own inverse modulo 8, and each round doubles the number of correct bits. */
  uint64_t low = (uint64_t)self->places[0], inverse = low;
  for (int bits = 3; bits < BITS; bits *= 2) inverse *= 2 - low * inverse;
  self->inverse = inverse & MASK;
  return 1;
}

/* Computes the next 62 steps of a pair of numbers from their lowest bits. `delta` is that of the paper (ModularInverse.h); f is odd. */
static int64_t next_steps(int64_t delta, uint64_t f, uint64_t g, steps *made) {
  uint64_t ff = 1, fg = 0, gf = 0, gg = 1;
  int left = BITS;
  for (;;) {
    /* Halves g while it is even, but at most `left` times, because only that many bits are known. */
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
    /* The next 1 - delta steps do not exchange the numbers. Together they add to g a multiple of f that makes as many bits of g zero. f
       (2 - f^2) is the inverse of f modulo 64. */
    int64_t most = 1 - delta < left ? 1 - delta : left;
    uint64_t bits = most < 6 ? ((uint64_t)1 << most) - 1 : 63;
    uint64_t times = (g * f * (f * f - 2)) & bits;
    g += f * times;
    gf += ff * times;
    gg += fg * times;
  }
  *made = (steps){.ff = (int64_t)ff, .fg = (int64_t)fg, .gf = (int64_t)gf, .gg = (int64_t)gg};
  return delta;
}

/* Applies the steps: both numbers become multiples of 2^62 and are divided by it. */
static void take(number *f, number *g, const steps *made, int count) {
  wide a = (wide)made->ff * f->places[0] + (wide)made->fg * g->places[0];
  wide b = (wide)made->gf * f->places[0] + (wide)made->gg * g->places[0];
  for (int place = 1; place < count; place++) {
    int64_t at_f = f->places[place], at_g = g->places[place];
    a = (a >> BITS) + (wide)made->ff * at_f + (wide)made->fg * at_g;
    b = (b >> BITS) + (wide)made->gf * at_f + (wide)made->gg * at_g;
    f->places[place - 1] = (int64_t)((uint64_t)a & MASK);
    g->places[place - 1] = (int64_t)((uint64_t)b & MASK);
  }
  f->places[count - 1] = (int64_t)(a >> BITS);
  g->places[count - 1] = (int64_t)(b >> BITS);
}

/* Applies the steps modulo the modulus: a multiple of it is added to each number, so that 2^62 divides the number. Both stay greater than
   minus twice the modulus and less than the modulus. */
static void take_modulo(number *d, number *e, const steps *made, const copenssl_modulus *modulus) {
  int count = modulus->count;
  const int64_t *n = modulus->places;
  /* For a negative number, the modulus is added first. */
  int64_t d_sign = -(int64_t)((uint64_t)d->places[count - 1] >> 63), e_sign = -(int64_t)((uint64_t)e->places[count - 1] >> 63);
  int64_t for_d = (made->ff & d_sign) + (made->fg & e_sign);
  int64_t for_e = (made->gf & d_sign) + (made->gg & e_sign);
  wide a = (wide)made->ff * d->places[0] + (wide)made->fg * e->places[0];
  wide b = (wide)made->gf * d->places[0] + (wide)made->gg * e->places[0];
  for_d -= (int64_t)((modulus->inverse * (uint64_t)a + (uint64_t)for_d) & MASK);
  for_e -= (int64_t)((modulus->inverse * (uint64_t)b + (uint64_t)for_e) & MASK);
  a += (wide)n[0] * for_d;
  b += (wide)n[0] * for_e;
  for (int place = 1; place < count; place++) {
    int64_t at_d = d->places[place], at_e = e->places[place];
    a = (a >> BITS) + (wide)made->ff * at_d + (wide)made->fg * at_e + (wide)n[place] * for_d;
    b = (b >> BITS) + (wide)made->gf * at_d + (wide)made->gg * at_e + (wide)n[place] * for_e;
    d->places[place - 1] = (int64_t)((uint64_t)a & MASK);
    e->places[place - 1] = (int64_t)((uint64_t)b & MASK);
  }
  d->places[count - 1] = (int64_t)(a >> BITS);
  e->places[count - 1] = (int64_t)(b >> BITS);
}

static int is_zero(const number *self, int count) {
  int64_t any = 0;
  for (int place = 0; place < count; place++) any |= self->places[place];
  return any == 0;
}

/* self = sign * self + times * modulus */
static void combine(number *self, int64_t sign, int64_t times, const copenssl_modulus *modulus) {
  wide rest = 0;
  for (int place = 0; place < modulus->count; place++) {
    rest += (wide)sign * self->places[place] + (wide)times * modulus->places[place];
    int isLast = place == modulus->count - 1;
    self->places[place] = isLast ? (int64_t)rest : (int64_t)((uint64_t)rest & MASK);
    rest >>= BITS;
  }
}

int copenssl_modular_inverse(const copenssl_modulus *modulus, const uint8_t *value, uint8_t *inverse) {
  int count = modulus->count;
  number f, g = {{0}}, d = {{0}}, e = {{1}};
  memcpy(f.places, modulus->places, sizeof(f.places));
  read_number(g.places, value, modulus->width);
  int64_t delta = 1;
  /* 19 rounds are 1,178 steps. The paper's bound for 384 bits is 1,110 steps. */
  for (int round = 0; round < 19 && !is_zero(&g, count); round++) {
    steps made;
    delta = next_steps(delta, (uint64_t)f.places[0] | (uint64_t)f.places[1] << BITS, (uint64_t)g.places[0] | (uint64_t)g.places[1] << BITS,
                       &made);
    take_modulo(&d, &e, &made, modulus);
    take(&f, &g, &made, count);
  }
  if (!is_zero(&g, count)) return 0;
  /* f is the greatest common divisor, or its negative, and d times the value is f modulo the modulus. */
  int64_t sign = f.places[count - 1] < 0 ? -1 : 1;
  combine(&f, sign, 0, modulus);
  number one = {{1}};
  if (memcmp(f.places, one.places, (size_t)count * sizeof(*f.places)) != 0) return 0;
  if (d.places[count - 1] < 0) combine(&d, 1, 1, modulus);
  if (sign < 0) combine(&d, -1, 0, modulus);
  if (d.places[count - 1] < 0) combine(&d, 1, 1, modulus);
  write_number(inverse, modulus->width, d.places);
  return 1;
}
