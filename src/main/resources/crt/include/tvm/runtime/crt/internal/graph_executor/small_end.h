/* SPDX-License-Identifier: Apache-2.0
 *
 * Ends what small_begin.h begins.
 */
#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif
