// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

/**
 * The timer by which a board measures time.
 *
 * @param counter name of the peripheral, for people
 * @param hertz ticks of a second; one of them is the resolution of all times
 * @param countsCycles whether a tick is a cycle of the core
 */
public record BoardTimer(String counter, long hertz, boolean countsCycles) {}
