// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.value;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import java.util.stream.IntStream;

/** Zero points, which frontends print for each channel though they are all the same. */
public final class ZeroPoints {
    private ZeroPoints() {}

    /** A scalar where all elements of a constant agree; anything else stays as it is. */
    public static Arg scalar(Arg zeroPoints) {
        boolean isVector = zeroPoints instanceof Constant constant
                && constant.type().shape().rank() == 1
                && constant.type().dtype().isInteger()
                && constant.elements() > 1
                && IntStream.range(1, constant.elements()).allMatch(i -> constant.integer(i) == constant.integer(0));
        return isVector ? Layouts.gather((Constant) zeroPoints, Shape.scalar(), new int[] {0}) : zeroPoints;
    }
}
