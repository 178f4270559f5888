// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

/**
 * How loops over elements may be written for a core.
 *
 * @param hasLongMultiply whether the core multiplies 32 by 32 bits to 64 in hardware
 * @param isUnrolled whether short functions of several elements are in one iteration: the core has registers for them, and code may grow
 * @param saturates whether the core saturates without a branch; elsewhere, values of an iteration come before the limits of all of them
 * @param hasFpu whether the core computes floats in hardware
 * @param isSmall whether small code is preferred to fast code
 */
public record ElementStyle(
        boolean hasLongMultiply, boolean isUnrolled, boolean saturates, boolean hasFpu, boolean isSmall) {}
