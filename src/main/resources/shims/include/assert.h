/* SPDX-License-Identifier: Apache-2.0
 *
 * ISO C's assert.h. A failed assertion stops the core on an undefined instruction, which the board's fault handler reports.
 */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
#endif

#ifndef static_assert
#define static_assert _Static_assert
#endif
