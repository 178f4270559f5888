// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

/** An operator whose sums of int8 or int16 data are wider than the data, so that only a rescaling can follow them. */
public sealed interface Accumulation extends Op permits TflBatchMatmul, TflCumsum, TflSum {}
