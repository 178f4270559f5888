// SPDX-License-Identifier: Apache-2.0
/** Schedules for the DSP extension of ARMv7E-M. */
package io.kiln.schedule.dsp;
