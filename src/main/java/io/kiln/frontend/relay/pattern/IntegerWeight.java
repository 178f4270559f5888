// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.pattern;

import io.kiln.base.DType;
import io.kiln.frontend.relay.value.Constants;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.Constant;
import io.kiln.ir.type.TensorType;

/**
 * The weight of a layer that sums integers, as int8 and a zero point.
 *
 * @param value int8
 * @param zeroPoint the number subtracted from it
 */
public record IntegerWeight(Value value, int zeroPoint) {
    /** Weights of any integer type whose elements lie within 256 of each other. */
    public static IntegerWeight of(Value weight) {
        if (weight.type().dtype() == DType.INT8) {
            return new IntegerWeight(weight, 0);
        }
        if (!(weight.arg() instanceof Constant constant)
                || !weight.isPlain()
                || !weight.type().dtype().isInteger()) {
            throw new IllegalArgumentException("the weight, " + weight.type().text() + ", is not constant integers");
        }
        long least = Long.MAX_VALUE;
        long most = Long.MIN_VALUE;
        for (int i = 0; i < constant.elements(); i++) {
            least = Math.min(least, constant.integer(i));
            most = Math.max(most, constant.integer(i));
        }
        boolean fits = least >= Byte.MIN_VALUE && most <= Byte.MAX_VALUE;
        long zeroPoint = fits ? 0 : Byte.MIN_VALUE - least;
        if (most + zeroPoint > Byte.MAX_VALUE || zeroPoint < Byte.MIN_VALUE || zeroPoint > Byte.MAX_VALUE) {
            throw new IllegalArgumentException("the weights lie between " + least + " and " + most
                    + ": expected a range that int8 with a zero point can hold");
        }
        Constant shifted = Constants.of(
                constant.name(),
                new TensorType(constant.type().shape(), DType.INT8),
                i -> constant.integer(i) + zeroPoint);
        return new IntegerWeight(Value.plain(shifted, shifted.type()), (int) zeroPoint);
    }
}
