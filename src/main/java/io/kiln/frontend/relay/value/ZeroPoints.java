// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.value;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.stream.IntStream;

/** Zero points that frontends print for each channel although they are all equal. */
public final class ZeroPoints {
    private ZeroPoints() {}

    /** A scalar if all elements of a constant are equal; otherwise the argument unchanged. */
    public static Arg scalar(Arg zeroPoints) {
        return zeroPoints instanceof Constant constant
                        && constant.type().shape().rank() == 1
                        && constant.type().dtype().isInteger()
                        && constant.elements() > 1
                        && IntStream.range(1, constant.elements())
                                .allMatch(i -> constant.integer(i) == constant.integer(0))
                ? Constants.of(
                        constant.name(),
                        new TensorType(Shape.scalar(), constant.type().dtype()),
                        i -> constant.integer(0))
                : zeroPoints;
    }
}
