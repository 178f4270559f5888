/* SPDX-License-Identifier: Apache-2.0
 *
 * What follows, up to small_end.h, is compiled for size, whatever the rest is compiled for: it runs once, when a graph is read, or does little.
 */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("Os")
#endif
