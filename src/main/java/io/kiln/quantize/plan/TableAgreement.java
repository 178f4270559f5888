// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.ir.Quantization;
import io.kiln.ir.arith.table.TflActivations;
import io.kiln.ir.op.element.Unary;

/**
 * Whether functions of int8 have the same 256 answers in TensorFlow Lite's library, which computes them in single precision
 * (LUTPopulate in kernels/internal/common.h), and in TensorFlow Lite Micro, which computes LOGISTIC and TANH in fixed point and ELU with
 * another formula. They may only differ where a result lies next to the middle of two integers.
 */
final class TableAgreement {
    /** What single precision and the two processors' exponential functions may differ by, in steps of the result. */
    private static final double MARGIN = 1e-4;

    private TableAgreement() {}

    static boolean of(Unary.Kind kind, Quantization in, Quantization out) {
        return switch (kind) {
            case SIGMOID -> agrees(TflActivations.logistic(in), kind, in, out);
            case TANH -> agrees(TflActivations.tanh(in), kind, in, out);
            case ELU -> agrees(TflActivations.elu(in, out), kind, in, out);
            default -> true;
        };
    }

    private static boolean agrees(int[] table, Unary.Kind kind, Quantization in, Quantization out) {
        for (int i = 0; i < table.length; i++) {
            double x = (double) in.scale() * (i + Byte.MIN_VALUE - in.zeroPoint());
            double steps = function(kind, x) / out.scale();
            double fraction = Math.abs(steps - Math.rint(steps));
            double nearest = Math.max(Byte.MIN_VALUE, Math.min(Byte.MAX_VALUE, Math.rint(steps) + out.zeroPoint()));
            if (0.5 - fraction < MARGIN || nearest != table[i]) {
                return false;
            }
        }
        return true;
    }

    private static double function(Unary.Kind kind, double x) {
        return switch (kind) {
            case SIGMOID -> 1 / (1 + StrictMath.exp(-x));
            case TANH -> StrictMath.tanh(x);
            default -> x < 0 ? StrictMath.expm1(x) : x;
        };
    }
}
