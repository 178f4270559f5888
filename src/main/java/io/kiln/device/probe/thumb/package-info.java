// SPDX-License-Identifier: Apache-2.0
/**
 * Executes Thumb instructions of an Armv7-M core without floating point or exceptions: enough for the small programs that a debugger
 * downloads into RAM.
 */
package io.kiln.device.probe.thumb;
