// SPDX-License-Identifier: Apache-2.0
/**
 * A probe and an STM32F405 in software, for real OpenOCD over its {@code remote_bitbang} adapter: JTAG, debug port,
 * core debug, flash controller. Time is not modelled: slow operations complete at once.
 */
package io.kiln.device.probe;
