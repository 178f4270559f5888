// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.ir.arith.SingleFactor;
import io.kiln.ir.op.Arguments;

/** The scales of operators of ONNX Runtime on bytes. */
final class OnnxScales {
    private OnnxScales() {}

    /** Checks that multiples of scales can be computed in integers, as those of a {@link SingleFactor}. */
    static void check(String operator, Arguments args, int... scales) {
        for (int position : scales) {
            args.constant(position)
                    .ifPresent(scale -> args.require(
                            SingleFactor.isOrdinary(scale.real(0)),
                            "a scale of " + operator + " is " + scale.real(0),
                            SingleFactor.ordinaryText()));
        }
    }
}
