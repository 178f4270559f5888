// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.arith.SingleFactor;
import io.kiln.ir.op.Arguments;

/** The scales of operators of ONNX Runtime on bytes. Arguments: data, its scale and zero point, the result's scale and zero point. */
final class OnnxScales {
    private OnnxScales() {}

    /** Checks scales and zero points; multiples of the scales are computed as those of a {@link SingleFactor}. */
    static void check(String operator, Arguments args) {
        args.quantization(1, 2, DType.INT8);
        args.quantization(3, 4, DType.INT8);
        checkOrdinary(operator, args, 1, 3);
    }

    /** Checks that multiples of scales can be computed in integers. */
    static void checkOrdinary(String operator, Arguments args, int... scales) {
        for (int position : scales) {
            args.constant(position)
                    .ifPresent(scale -> args.require(
                            SingleFactor.isOrdinary(scale.real(0)),
                            "a scale of " + operator + " is " + scale.real(0),
                            SingleFactor.ordinaryText()));
        }
    }
}
