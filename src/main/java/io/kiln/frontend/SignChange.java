// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.TflRequantize;
import java.util.List;

/** Conversion of quantized bytes between uint8 and int8: 128 is subtracted or added, and the zero point changes with them. */
public final class SignChange {
    /** The difference between a uint8 and the int8 that stands for it. */
    public static final int OFFSET = 128;

    private static final int LAST_AXIS = -1;

    private SignChange() {}

    /** The operator that converts elements to a type, int8 or uint8, from the other one. */
    public static TflRequantize to(DType dtype) {
        return dtype == DType.INT8
                ? new TflRequantize(LAST_AXIS, OFFSET, 0, DType.INT8)
                : new TflRequantize(LAST_AXIS, 0, OFFSET, DType.UINT8);
    }

    public static List<Arg> arguments(Arg value) {
        QuantizedMultiplier one = QuantizedMultiplier.of(1);
        return List.of(value, Constant.scalar(one.multiplier()), Constant.scalar(one.shift()));
    }
}
