// SPDX-License-Identifier: Apache-2.0
/**
 * Schedules of convolutions, by core: {@code Direct} plain loops for every core; {@code Blocked} assembly in blocks of pixels and channels for Thumb and
 * RISC-V; {@code Dsp} the SIMD instructions of Armv7E-M, Winograd included; {@code Mve} im2col and GEMM on vectors; {@code Fpu} single precision;
 * {@code Soft} floats as integers for cores without a unit; {@code Shared} one kernel for all layers, for little flash.
 */
package io.kiln.schedule.convolution;
