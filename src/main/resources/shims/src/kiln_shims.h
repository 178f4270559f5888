/* SPDX-License-Identifier: Apache-2.0
 *
 * The names that the shims define. On a board they are those that compilers call; on a computer with a C library of its own, where the
 * shims are only tested, each has a prefix.
 */
#ifndef KILN_SHIMS_H_
#define KILN_SHIMS_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__arm__) || (defined(__riscv) && __riscv_xlen == 32)
#define SHIM(name) name
#else
#define SHIM(name) kiln_shim_##name
#endif

/* Names of the compiler's helpers: Arm's run-time ABI, and GCC's, which RISC-V uses. */
#if defined(__arm__)
#define BUILTIN(aeabi, gcc) __aeabi_##aeabi
#else
#define BUILTIN(aeabi, gcc) SHIM(gcc)
#endif

/* Floats as their bits: the helpers must not use the arithmetic that they implement. */
typedef uint32_t float_bits;

void* SHIM(memcpy)(void* restrict to, const void* restrict from, size_t bytes);
void* SHIM(memmove)(void* to, const void* from, size_t bytes);
void* SHIM(memset)(void* to, int value, size_t bytes);
int SHIM(memcmp)(const void* a, const void* b, size_t bytes);
void* SHIM(memchr)(const void* in, int value, size_t bytes);
size_t SHIM(strlen)(const char* text);
int SHIM(strcmp)(const char* a, const char* b);
int SHIM(strncmp)(const char* a, const char* b, size_t bytes);
char* SHIM(strcpy)(char* restrict to, const char* restrict from);
char* SHIM(strncpy)(char* restrict to, const char* restrict from, size_t bytes);
char* SHIM(strchr)(const char* text, int character);
int SHIM(abs)(int value);
long SHIM(labs)(long value);

float SHIM(expf)(float x);
float SHIM(sqrtf)(float x);
float SHIM(expm1f)(float x);
float SHIM(logf)(float x);
float SHIM(sinf)(float x);
float SHIM(cosf)(float x);
float SHIM(tanhf)(float x);
float SHIM(erff)(float x);
float SHIM(fmodf)(float x, float y);
float SHIM(fabsf)(float x);
float SHIM(copysignf)(float magnitude, float sign);
float SHIM(floorf)(float x);
float SHIM(ceilf)(float x);
float SHIM(truncf)(float x);
float SHIM(roundf)(float x);
float SHIM(rintf)(float x);
float SHIM(nearbyintf)(float x);
long SHIM(lroundf)(float x);
long SHIM(lrintf)(float x);
float SHIM(fmaxf)(float a, float b);
float SHIM(fminf)(float a, float b);

/* 64-bit integers. */
int64_t BUILTIN(lmul, __muldi3)(int64_t a, int64_t b);
int64_t BUILTIN(llsl, __ashldi3)(int64_t value, int shift);
int64_t BUILTIN(llsr, __lshrdi3)(int64_t value, int shift);
int64_t BUILTIN(lasr, __ashrdi3)(int64_t value, int shift);
uint64_t SHIM(__udivmoddi4)(uint64_t n, uint64_t d, uint64_t* rest);
int64_t SHIM(__divmoddi4)(int64_t n, int64_t d, int64_t* rest);
uint64_t SHIM(__udivdi3)(uint64_t n, uint64_t d);
uint64_t SHIM(__umoddi3)(uint64_t n, uint64_t d);
int64_t SHIM(__divdi3)(int64_t n, int64_t d);
int64_t SHIM(__moddi3)(int64_t n, int64_t d);

/* 32-bit integers, for cores that cannot divide. */
uint32_t SHIM(__mulsi3)(uint32_t a, uint32_t b);
uint32_t BUILTIN(uidiv, __udivsi3)(uint32_t n, uint32_t d);
int32_t BUILTIN(idiv, __divsi3)(int32_t n, int32_t d);
uint32_t SHIM(__umodsi3)(uint32_t n, uint32_t d);
int32_t SHIM(__modsi3)(int32_t n, int32_t d);

/* Bits. */
int SHIM(__clzsi2)(uint32_t value);
int SHIM(__ctzsi2)(uint32_t value);
int SHIM(__clzdi2)(uint64_t value);

/* Single precision floats, for cores without an FPU; 64-bit conversions for all. */
float_bits BUILTIN(fadd, __addsf3)(float_bits a, float_bits b);
float_bits BUILTIN(fsub, __subsf3)(float_bits a, float_bits b);
float_bits BUILTIN(fmul, __mulsf3)(float_bits a, float_bits b);
float_bits BUILTIN(fdiv, __divsf3)(float_bits a, float_bits b);
float_bits BUILTIN(i2f, __floatsisf)(int32_t value);
float_bits BUILTIN(ui2f, __floatunsisf)(uint32_t value);
float_bits BUILTIN(l2f, __floatdisf)(int64_t value);
float_bits BUILTIN(ul2f, __floatundisf)(uint64_t value);
int32_t BUILTIN(f2iz, __fixsfsi)(float_bits value);
uint32_t BUILTIN(f2uiz, __fixunssfsi)(float_bits value);
int64_t BUILTIN(f2lz, __fixsfdi)(float_bits value);
uint64_t BUILTIN(f2ulz, __fixunssfdi)(float_bits value);
#if defined(__arm__)
float_bits __aeabi_frsub(float_bits a, float_bits b);
int __aeabi_fcmpeq(float_bits a, float_bits b);
int __aeabi_fcmplt(float_bits a, float_bits b);
int __aeabi_fcmple(float_bits a, float_bits b);
int __aeabi_fcmpge(float_bits a, float_bits b);
int __aeabi_fcmpgt(float_bits a, float_bits b);
int __aeabi_fcmpun(float_bits a, float_bits b);
uint64_t __aeabi_uidivmod(uint32_t n, uint32_t d);
uint64_t __aeabi_idivmod(int32_t n, int32_t d);
void __aeabi_uldivmod(void);
void __aeabi_ldivmod(void);
#else
int SHIM(__eqsf2)(float_bits a, float_bits b);
int SHIM(__nesf2)(float_bits a, float_bits b);
int SHIM(__ltsf2)(float_bits a, float_bits b);
int SHIM(__lesf2)(float_bits a, float_bits b);
int SHIM(__gesf2)(float_bits a, float_bits b);
int SHIM(__gtsf2)(float_bits a, float_bits b);
int SHIM(__unordsf2)(float_bits a, float_bits b);
float_bits SHIM(__negsf2)(float_bits value);
#endif

#endif
