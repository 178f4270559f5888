// SPDX-License-Identifier: Apache-2.0
/** Schedules in blocks of channels and pixels, in assembly for Thumb and RISC-V. */
package io.kiln.schedule.blocked;
