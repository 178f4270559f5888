// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

/** Affine quantization of a whole tensor: real = scale * (value - zeroPoint). */
public record Quantization(float scale, int zeroPoint) {}
