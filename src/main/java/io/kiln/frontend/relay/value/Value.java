// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.value;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * A value of the text and how the function holds it. Both differ where the text spells out in several calls what the IR has one operator
 * for, or where it orders dimensions otherwise; they are brought together when something else reads the value.
 *
 * @param arg what the function holds
 * @param type the type that the value has in the text
 * @param channelsLast whether NCHW in the text is held as NHWC
 * @param flattened the NCHW dimensions of what is held as NHWC and is flattened in the text
 * @param padding what the text puts around the value
 * @param widened whether int32 in the text is held as int8
 */
public record Value(
        Arg arg,
        TensorType type,
        boolean channelsLast,
        Optional<Shape> flattened,
        Optional<Padding> padding,
        boolean widened) {
    /**
     * A border of one number.
     *
     * @param widths elements before and behind, for each dimension of the text
     * @param value the number
     */
    public record Padding(List<List<Integer>> widths, double value) {
        public Padding {
            widths = List.copyOf(widths);
        }
    }

    /** A value that is held as the text has it. */
    public static Value plain(Arg arg, TensorType type) {
        return new Value(arg, type, false, Optional.empty(), Optional.empty(), false);
    }

    /** NCHW in the text, held as NHWC. */
    public static Value channelsLast(Arg arg, TensorType type) {
        return new Value(arg, type, true, Optional.empty(), Optional.empty(), false);
    }

    public Value flattenedTo(TensorType flat) {
        return new Value(arg, flat, false, Optional.of(type.shape()), padding, widened);
    }

    public Value padded(Padding border, TensorType larger) {
        return new Value(arg, larger, channelsLast, flattened, Optional.of(border), widened);
    }

    public Value asWidened(boolean isWidened, TensorType other) {
        return new Value(arg, other, channelsLast, flattened, padding, isWidened);
    }

    /** The same way of holding it for what an operator computes element by element. */
    public Value with(Arg result, TensorType resultType) {
        return new Value(result, resultType, channelsLast, flattened, padding, widened);
    }

    /** Whether nothing but the order of dimensions differs. */
    public boolean isWhole() {
        return padding.isEmpty() && !widened;
    }

    public boolean isPlain() {
        return isWhole() && !channelsLast && flattened.isEmpty();
    }

    /** Whether a constant stands for a larger one that repeats it, as {@code zeros} and {@code full} make them. */
    public boolean isSpread() {
        return arg instanceof Constant constant
                && isPlain()
                && !constant.type().shape().equals(type.shape());
    }
}
