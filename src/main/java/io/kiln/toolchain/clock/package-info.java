// SPDX-License-Identifier: Apache-2.0
/** Clocks of chips: which ones the start-up code of a family can set, and the numbers that it needs for that. */
package io.kiln.toolchain.clock;
