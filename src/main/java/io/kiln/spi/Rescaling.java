// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.util.List;

/** Turns sums into elements of the output: {@code clamp(zero point + round(sum * multiplier * 2^(shift - 31)))}. */
public interface Rescaling {
    /**
     * Multipliers with 31 bits behind the point.
     *
     * @return one for each channel, or one for all
     */
    List<Integer> multipliers();

    /**
     * Powers of two, positive to the left.
     *
     * @return as many as multipliers
     */
    List<Integer> shifts();

    /**
     * The number that is subtracted from the sums.
     *
     * @return mostly 0
     */
    int inputZeroPoint();

    /**
     * The number that is added to the results.
     *
     * @return the zero point of the output
     */
    int outputZeroPoint();

    /**
     * The type to which results saturate.
     *
     * @return an integer type
     */
    ElementType type();

    /**
     * How products are rounded: {@code TFLITE} twice, as TensorFlow Lite's reference does; {@code UPWARD}, {@code TONEAREST} or {@code ONNX}
     * once. There may be more in a later version.
     *
     * @return the name
     */
    String rounding();

    /**
     * Whether the model demands floating point here, which multipliers and shifts only approximate.
     *
     * @return false for models of integers alone
     */
    boolean usesReals();
}
