// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.FixedPointMultiply;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;

/**
 * Products with fixed-point numbers in TVM's form: {@code fixed_point_multiply} and {@code
 * fixed_point_multiply_per_axis}, and the canonical form of {@code qnn.requantize} that uses them. There are no such
 * operators for roundings other than upward.
 */
final class ProductText {
    private static final int FRACTION_BITS = 31;

    /** Left shifts that bytes and 16-bit values allow without exceeding 32 bits. */
    private static final int SPARE_BITS = 12;

    private final Function<Arg, String> text;

    /**
     * @param text returns the text of an argument
     */
    ProductText(Function<Arg, String> text) {
        this.text = text;
    }

    /** The call; empty if TVM has none. */
    Optional<String> of(Binding binding, TensorType data) {
        if (binding.op().equals(new FixedPointMultiply(Rounding.UPWARD))) {
            return product(binding, data);
        }
        boolean isRescaling = binding.op() instanceof TflRequantize op
                && op.rounding() == Rounding.UPWARD
                && op.axis() == -1
                && binding.args().get(0) instanceof Arg.Ref;
        return isRescaling && bears(binding, data) ? Optional.of(rescaling(binding, data)) : Optional.empty();
    }

    private Optional<String> product(Binding binding, TensorType data) {
        if (!(binding.args().get(1) instanceof Constant multiplier)
                || !(binding.args().get(FixedPointMultiply.SHIFT) instanceof Constant shift)
                || !areAlike(multiplier, shift)) {
            return Optional.empty();
        }
        Shape own = multiplier.type().shape();
        boolean isScalar = own.rank() == 0;
        int axis = isScalar ? 0 : own.rank() == 1 ? data.shape().rank() - 1 : axis(own);
        boolean fits = isScalar
                || (axis >= 0
                        && (own.rank() == 1 || own.rank() == data.shape().rank())
                        && data.shape().dim(axis) == own.elements());
        return fits
                ? Optional.of(product(text.apply(binding.args().get(0)), multiplier, left(shift), axis))
                : Optional.empty();
    }

    /**
     * The only dimension with more than one element, unless it is the last, which a vector represents; otherwise -1.
     */
    private static int axis(Shape shape) {
        for (int i = 0; i < shape.rank() - 1; i++) {
            if (shape.dim(i) == shape.elements() && shape.elements() > 1) {
                return i;
            }
        }
        return -1;
    }

    private static Constant left(Constant shift) {
        return vector(shift.elements(), shift.type().shape().rank() == 0, i -> FRACTION_BITS - (int) shift.integer(i));
    }

    private String product(String data, Constant multiplier, Constant left, int axis) {
        if (left.type().shape().rank() == 0) {
            return "fixed_point_multiply(" + data + ", multiplier=" + multiplier.integer(0) + ", shift="
                    + left.integer(0) + ")";
        }
        int size = left.elements();
        boolean shiftsLeft = false;
        for (int i = 0; i < size; i++) {
            shiftsLeft |= left.integer(i) > 0;
        }
        return "fixed_point_multiply_per_axis(" + data + ", "
                + text.apply(vector(size, false, i -> (int) multiplier.integer(i))) + ", "
                + text.apply(vector(size, false, i -> (int) Math.max(left.integer(i), 0))) + ", "
                + text.apply(vector(size, false, i -> (int) Math.max(-left.integer(i), 0)))
                + (shiftsLeft ? ", is_lshift_required=True" : "") + ", is_rshift_required=True, axes=[" + axis + "])";
    }

    /** Whether the canonical form, in which the product wraps around, always equals the operator, which saturates. */
    private static boolean bears(Binding binding, TensorType data) {
        Constant multiplier = binding.constant(1);
        Constant left = binding.constant(2);
        boolean isVector = multiplier.type().shape().rank() == 0 || multiplier.elements() > 1;
        int most = data.dtype().bytes() < Integer.BYTES ? SPARE_BITS : 0;
        boolean bears = areAlike(multiplier, left) && isVector && data.shape().rank() > 0;
        for (int i = 0; i < left.elements(); i++) {
            bears &= left.integer(i) <= most;
        }
        for (int i = 0; i < multiplier.elements(); i++) {
            bears &= multiplier.integer(i) >= 0;
        }
        return bears;
    }

    private String rescaling(Binding binding, TensorType data) {
        TflRequantize op = (TflRequantize) binding.op();
        String value = text.apply(binding.args().get(0));
        String words = data.dtype() == DType.INT32 ? value : "cast(" + value + ", dtype=\"int32\")";
        String centred = op.inputZeroPoint() == 0 ? words : "subtract(" + words + ", " + op.inputZeroPoint() + ")";
        String scaled = product(
                centred, binding.constant(1), binding.constant(2), data.shape().rank() - 1);
        String sum = op.outputZeroPoint() == 0 ? scaled : "add(" + op.outputZeroPoint() + ", " + scaled + ")";
        return "cast(clip(" + sum + ", a_min=" + op.outDtype().min() + "f, a_max="
                + op.outDtype().max() + "f), dtype=\"" + op.outDtype().text() + "\")";
    }

    /** Whether constants have one shape and no names, which the text would lose. */
    private static boolean areAlike(Constant a, Constant b) {
        return a.type().equals(b.type()) && a.name().isEmpty() && b.name().isEmpty();
    }

    private static Constant vector(int size, boolean isScalar, IntUnaryOperator elements) {
        ByteBuffer data = ByteBuffer.allocate(Integer.BYTES * size).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < size; i++) {
            data.putInt(elements.applyAsInt(i));
        }
        TensorType type = new TensorType(isScalar ? Shape.scalar() : Shape.of(size), DType.INT32);
        return new Constant("", type, Bytes.wrap(data.array()));
    }
}
