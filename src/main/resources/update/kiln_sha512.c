/* SPDX-License-Identifier: Apache-2.0 */
#include "kiln_sha512.h"

#define BLOCK 128u

/* Fractions of the cube roots of the first 80 primes. */
static const uint64_t constants[80] = {
  0x428a2f98d728ae22u, 0x7137449123ef65cdu, 0xb5c0fbcfec4d3b2fu, 0xe9b5dba58189dbbcu,
  0x3956c25bf348b538u, 0x59f111f1b605d019u, 0x923f82a4af194f9bu, 0xab1c5ed5da6d8118u,
  0xd807aa98a3030242u, 0x12835b0145706fbeu, 0x243185be4ee4b28cu, 0x550c7dc3d5ffb4e2u,
  0x72be5d74f27b896fu, 0x80deb1fe3b1696b1u, 0x9bdc06a725c71235u, 0xc19bf174cf692694u,
  0xe49b69c19ef14ad2u, 0xefbe4786384f25e3u, 0x0fc19dc68b8cd5b5u, 0x240ca1cc77ac9c65u,
  0x2de92c6f592b0275u, 0x4a7484aa6ea6e483u, 0x5cb0a9dcbd41fbd4u, 0x76f988da831153b5u,
  0x983e5152ee66dfabu, 0xa831c66d2db43210u, 0xb00327c898fb213fu, 0xbf597fc7beef0ee4u,
  0xc6e00bf33da88fc2u, 0xd5a79147930aa725u, 0x06ca6351e003826fu, 0x142929670a0e6e70u,
  0x27b70a8546d22ffcu, 0x2e1b21385c26c926u, 0x4d2c6dfc5ac42aedu, 0x53380d139d95b3dfu,
  0x650a73548baf63deu, 0x766a0abb3c77b2a8u, 0x81c2c92e47edaee6u, 0x92722c851482353bu,
  0xa2bfe8a14cf10364u, 0xa81a664bbc423001u, 0xc24b8b70d0f89791u, 0xc76c51a30654be30u,
  0xd192e819d6ef5218u, 0xd69906245565a910u, 0xf40e35855771202au, 0x106aa07032bbd1b8u,
  0x19a4c116b8d2d0c8u, 0x1e376c085141ab53u, 0x2748774cdf8eeb99u, 0x34b0bcb5e19b48a8u,
  0x391c0cb3c5c95a63u, 0x4ed8aa4ae3418acbu, 0x5b9cca4f7763e373u, 0x682e6ff3d6b2b8a3u,
  0x748f82ee5defb2fcu, 0x78a5636f43172f60u, 0x84c87814a1f0ab72u, 0x8cc702081a6439ecu,
  0x90befffa23631e28u, 0xa4506cebde82bde9u, 0xbef9a3f7b2c67915u, 0xc67178f2e372532bu,
  0xca273eceea26619cu, 0xd186b8c721c0c207u, 0xeada7dd6cde0eb1eu, 0xf57d4f7fee6ed178u,
  0x06f067aa72176fbau, 0x0a637dc5a2c898a6u, 0x113f9804bef90daeu, 0x1b710b35131c471bu,
  0x28db77f523047d84u, 0x32caab7b40c72493u, 0x3c9ebe0a15c9bebcu, 0x431d67c49c100d4cu,
  0x4cc5d4becb3e42b6u, 0x597f299cfc657e2au, 0x5fcb6fab3ad6faecu, 0x6c44198c4a475817u,
};

static uint64_t rotated(uint64_t value, unsigned by) {
  return (value >> by) | (value << (64u - by));
}

static uint64_t word(const uint8_t* bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < 8u; ++i) {
    value = (value << 8) | bytes[i];
  }
  return value;
}

/* The schedule of 80 words is computed in a window of 16. */
static void take(uint64_t state[8], const uint8_t* block) {
  uint64_t w[16];
  uint64_t v[8];
  for (unsigned i = 0; i < 8u; ++i) {
    v[i] = state[i];
  }
  for (unsigned i = 0; i < 16u; ++i) {
    w[i] = word(block + 8u * i);
  }
  for (unsigned i = 0; i < 80u; ++i) {
    uint64_t late = w[(i + 14u) % 16u];
    uint64_t early = w[(i + 1u) % 16u];
    uint64_t sum = v[7] + (rotated(v[4], 14) ^ rotated(v[4], 18) ^ rotated(v[4], 41)) +
                   ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i % 16u];
    uint64_t major = (rotated(v[0], 28) ^ rotated(v[0], 34) ^ rotated(v[0], 39)) +
                     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    w[i % 16u] += w[(i + 9u) % 16u] + (rotated(late, 19) ^ rotated(late, 61) ^ (late >> 6)) +
                  (rotated(early, 1) ^ rotated(early, 8) ^ (early >> 7));
    for (unsigned k = 7; k > 0u; --k) {
      v[k] = v[k - 1u];
    }
    v[4] += sum;
    v[0] = sum + major;
  }
  for (unsigned i = 0; i < 8u; ++i) {
    state[i] += v[i];
  }
}

static void begin(struct kiln_sha512* digest, const uint64_t start[8]) {
  for (unsigned i = 0; i < 8u; ++i) {
    digest->state[i] = start[i];
  }
  digest->length = 0;
}

void kiln_sha512_begin(struct kiln_sha512* digest) {
  /* Fractions of the square roots of the first eight primes. */
  static const uint64_t start[8] = {
    0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
    0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u,
  };
  begin(digest, start);
}

void kiln_sha512_256_begin(struct kiln_sha512* digest) {
  /* FIPS 180-4, section 5.3.6.2. */
  static const uint64_t start[8] = {
    0x22312194fc2bf72cu, 0x9f555fa3c84c64c2u, 0x2393b86b6f53b151u, 0x963877195940eabdu,
    0x96283ee2a88effe3u, 0xbe5e1e2553863992u, 0x2b0199fc2c85b8aau, 0x0eb72ddc81c52ca2u,
  };
  begin(digest, start);
}

void kiln_sha512_add(struct kiln_sha512* digest, const uint8_t* data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    digest->block[digest->length % BLOCK] = data[i];
    ++digest->length;
    if (digest->length % BLOCK == 0u) {
      take(digest->state, digest->block);
    }
  }
}

void kiln_sha512_end(struct kiln_sha512* digest, uint8_t out[KILN_SHA512_BYTES]) {
  /* The length is stored in bits, as a number of 128 bits. */
  uint64_t length = digest->length;
  uint8_t mark = 0x80;
  do {
    kiln_sha512_add(digest, &mark, 1);
    mark = 0;
  } while (digest->length % BLOCK != 112u);
  for (unsigned i = 0; i < 16u; ++i) {
    uint8_t byte = (uint8_t)(i < 8u ? (i == 7u ? length >> 61 : 0u) : (length << 3) >> (120u - 8u * i));
    kiln_sha512_add(digest, &byte, 1);
  }
  for (unsigned i = 0; i < KILN_SHA512_BYTES; ++i) {
    out[i] = (uint8_t)(digest->state[i / 8u] >> (56u - 8u * (i % 8u)));
  }
}
