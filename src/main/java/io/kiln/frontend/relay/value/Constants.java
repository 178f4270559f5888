// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.value;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.stream.IntStream;

/** Arithmetic on constants while the text is read. */
public final class Constants {
    private Constants() {}

    /** The only element, of any type. */
    public static double number(Constant constant) {
        if (constant.elements() != 1) {
            throw new IllegalArgumentException(
                    "a scalar is expected, not " + constant.type().text());
        }
        return constant.type().dtype().isFloat() ? constant.real(0) : constant.integer(0);
    }

    /** A number as a scalar of a type. */
    public static Constant scalar(double value, DType dtype) {
        return dtype.isFloat()
                ? Constant.scalar((float) value)
                : Constant.integers("", new TensorType(Shape.scalar(), dtype), i -> (long) value);
    }

    /** Integers converted to another type, wrapping around. */
    public static Constant cast(Constant constant, DType to) {
        return Constant.integers(constant.name(), new TensorType(constant.type().shape(), to), constant::integer);
    }

    /** A scalar if all elements of a constant are equal; otherwise the argument unchanged. */
    public static Arg commonZeroPoint(Arg zeroPoints) {
        return zeroPoints instanceof Constant constant
                        && constant.type().shape().rank() == 1
                        && constant.type().dtype().isInteger()
                        && constant.elements() > 1
                        && IntStream.range(1, constant.elements())
                                .allMatch(i -> constant.integer(i) == constant.integer(0))
                ? Constant.integers(
                        constant.name(),
                        new TensorType(Shape.scalar(), constant.type().dtype()),
                        i -> constant.integer(0))
                : zeroPoints;
    }
}
