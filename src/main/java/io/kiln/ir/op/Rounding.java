// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

/** How an operator on integers rounds; each operator says which of these it can have. */
public enum Rounding {
    /** As TensorFlow Lite's reference kernel of the operator. */
    TFLITE,
    /** Once, halves towards positive infinity: TVM's default. */
    UPWARD,
    /** Once, halves away from zero. */
    TONEAREST,
    /** Towards zero, as C divides: TVM's average pool of integers. */
    TRUNCATE
}
