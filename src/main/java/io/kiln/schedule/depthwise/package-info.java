// SPDX-License-Identifier: Apache-2.0
/**
 * Schedules of depthwise convolutions, by core, named as those of convolutions; {@code Int16} is for data of 16 bits.
 */
package io.kiln.schedule.depthwise;
