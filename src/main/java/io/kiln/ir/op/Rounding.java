// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

/** The rounding of an operator on integers; each operator states which of these it supports. */
public enum Rounding {
    /** As in TensorFlow Lite's reference kernel of the operator. */
    TFLITE,
    /** Once, halves towards positive infinity: TVM's default. */
    UPWARD,
    /** Once, halves away from zero. */
    TONEAREST,
    /** Once, halves to even, in single precision: ONNX Runtime's kernels for the CPU. */
    ONNX,
    /** Towards zero, like division in C: TVM's average pool of integers. */
    TRUNCATE
}
