/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of ISO C's math.h that float models need; errno is never set.
 */
#ifndef KILN_MATH_H_
#define KILN_MATH_H_

#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define HUGE_VALF INFINITY

#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)

#ifdef __cplusplus
extern "C" {
#endif

/* Within 1 unit in the last place. */
float expf(float x);

/* Within a millionth of the true value. */
float expm1f(float x);
float logf(float x);
float sinf(float x);
float cosf(float x);
float tanhf(float x);
float erff(float x);

/* Correctly rounded. */
float sqrtf(float x);

/* Exact. */
float fabsf(float x);
float fmodf(float x, float y);
float copysignf(float magnitude, float sign);
float floorf(float x);
float ceilf(float x);
float truncf(float x);
float roundf(float x);     /* ties away from zero */
float rintf(float x);      /* ties to even */
float nearbyintf(float x); /* ties to even */
long lroundf(float x);
long lrintf(float x);
float fmaxf(float a, float b);
float fminf(float a, float b);

#ifdef __cplusplus
}
#endif

#endif
