// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.value;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A value of the text and its representation in the function. They differ where the text uses several calls for one
 * operator of the IR, or another order of dimensions; they are made equal when another operator reads the value.
 *
 * @param arg the value in the function
 * @param type the value's type in the text
 * @param channelsLast whether NCHW in the text is NHWC in the function
 * @param flattened the NCHW dimensions of a value that is NHWC in the function and flattened in the text
 * @param padding the padding that the text puts around the value
 * @param widened whether int32 in the text is int8 in the function
 */
public record Value(
        Arg arg,
        TensorType type,
        boolean channelsLast,
        Optional<Shape> flattened,
        Optional<Padding> padding,
        boolean widened) {
    /** The dimensions of NCHW as those of NHWC. */
    public static final List<Integer> TO_CHANNELS_LAST = List.of(0, 2, 3, 1);

    /** The dimensions of NHWC as those of NCHW. */
    public static final List<Integer> TO_CHANNELS_FIRST = List.of(0, 3, 1, 2);

    /**
     * A border with one value.
     *
     * @param widths elements before and after, for each dimension of the text
     */
    public record Padding(List<List<Integer>> widths, double value) {
        public Padding {
            widths = List.copyOf(widths);
        }
    }

    /** A value that is the same in text and function. */
    public static Value plain(Arg arg, TensorType type) {
        return new Value(arg, type, false, Optional.empty(), Optional.empty(), false);
    }

    /** A value that is NCHW in the text and NHWC in the function. */
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

    /** The same representation for the result of an element-wise operator. */
    public Value with(Arg result, TensorType resultType) {
        return new Value(result, resultType, channelsLast, flattened, padding, widened);
    }

    /** Whether only the order of dimensions may differ. */
    public boolean isWhole() {
        return padding.isEmpty() && !widened;
    }

    public boolean isPlain() {
        return isWhole() && !channelsLast && flattened.isEmpty();
    }

    /** Whether a constant represents a larger one that repeats it, made by {@code zeros} and {@code full}. */
    public boolean isSpread() {
        return arg instanceof Constant constant
                && isPlain()
                && !constant.type().shape().equals(type.shape());
    }

    /** Whether NCHW and NHWC have the same order of elements. */
    public static boolean isSameOrder(Shape nchw) {
        return nchw.dim(1) == 1 || nchw.dim(2) * nchw.dim(3) == 1;
    }

    /** The dimensions in another order. */
    public static Shape permuted(Shape shape, List<Integer> axes) {
        return new Shape(axes.stream().map(shape::dim).toList());
    }

    /** Arithmetic on constants while the text is read. */
    public static final class Constants {
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
            return Constant.integers(
                    constant.name(), new TensorType(constant.type().shape(), to), constant::integer);
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
}
