// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.pattern;

import io.kiln.base.DType;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Value;
import io.kiln.frontend.relay.value.Value.Constants;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.FixedPointMultiply;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.element.Where;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Recognises expansions by TVM's canonicalisation of {@code qnn.requantize}, {@code qnn.quantize} and {@code
 * qnn.dequantize} (src/relay/qnn/op/requantize.cc, quantize.cc, dequantize.cc), and replaces them by one operator,
 * which then becomes a layer's epilogue.
 */
public final class Rescalings {
    /** With multipliers of at most 1, results stay within 32 bits. */
    private static final int SHIFT_OF_ONE = 31;

    /** Left shifts that bytes and 16-bit values, less a zero point, allow. */
    private static final int SPARE_BITS = 12;

    private final CallSite call;
    private final List<Arg> passed = new ArrayList<>();

    private Rescalings(CallSite call) {
        this.call = call;
    }

    /**
     * The operator for the chain that a cast ends: a rescaling to small integers, or a product of 64 bits; empty if it
     * is neither.
     */
    public static Optional<Arg> narrowed(CallSite call, Arg value, DType to) {
        DType from = call.type(value).dtype();
        if (from == DType.INT64 && to == DType.INT32) {
            return LongProducts.narrowed(call, value);
        }
        boolean isSmall = to == DType.INT8 || to == DType.UINT8 || to == DType.INT16;
        return from == DType.INT32 && isSmall ? new Rescalings(call).limited(value, to) : Optional.empty();
    }

    /** {@code multiply(cast(subtract(cast(x), zero)), scale)}. */
    public static Optional<Value> dequantized(CallSite call) {
        for (int scale = 0; scale < 2; scale++) {
            Value data = call.value(1 - scale);
            boolean suits = data.isWhole()
                    && data.type().dtype().isFloat()
                    && call.value(scale).arg() instanceof Constant constant
                    && constant.elements() == 1
                    && call.value(scale).isPlain()
                    && constant.type().shape().rank() <= data.type().shape().rank();
            if (suits && !call.isOwn()) {
                return new Rescalings(call)
                        .dequantized(data, (Constant) call.value(scale).arg());
            }
        }
        return Optional.empty();
    }

    private Optional<Value> dequantized(Value data, Constant scale) {
        Optional<Binding> real = step(data.arg()).filter(b -> b.op().equals(new Cast(DType.FLOAT32)));
        if (real.isEmpty() || !(scale.real(0) > 0) || !Float.isFinite(scale.real(0))) {
            return Optional.empty();
        }
        Arg words = real.get().args().get(0);
        Optional<Centred> centred = call.type(words).dtype() == DType.INT32 ? centred(words) : Optional.empty();
        return centred.filter(c -> call.type(c.data()).dtype() != DType.INT32).map(c -> {
            passed.forEach(call::supersede);
            Arg result = call.emit(
                    new QnnDequantize(),
                    List.of(c.data(), Constant.scalar(scale.real(0)), Constant.scalar(c.zeroPoint())));
            return data.with(result, new TensorType(data.type().shape(), DType.FLOAT32));
        });
    }

    /** The operator that computes a value; it is marked as replaced if the whole chain is recognised. */
    private Optional<Binding> step(Arg arg) {
        passed.add(arg);
        return call.producer(arg);
    }

    private Optional<Arg> limited(Arg value, DType to) {
        Optional<Clip> clip = step(value).filter(b -> b.op() instanceof Clip).map(b -> (Clip) b.op());
        if (clip.filter(c -> c.min() >= to.min() && c.max() <= to.max()).isEmpty()) {
            return Optional.empty();
        }
        Arg sum = call.producer(value).orElseThrow().args().get(0);
        Optional<Binding> shifted = call.producer(sum, new Binary(Binary.Kind.ADD));
        Optional<Constant> zero =
                shifted.flatMap(Rescalings::scalar).filter(c -> c.integer(0) >= to.min() && c.integer(0) <= to.max());
        Arg scaled = sum;
        if (zero.isPresent()) {
            passed.add(sum);
            scaled = other(shifted.orElseThrow(), zero.orElseThrow());
        }
        int zeroPoint = zero.map(c -> (int) c.integer(0)).orElse(0);
        Arg data = scaled;
        return product(scaled, to, zeroPoint)
                .or(() -> quotient(data, to, zeroPoint))
                .map(arg -> limits(arg, clip.orElseThrow(), to));
    }

    private Arg limits(Arg result, Clip clip, DType to) {
        passed.forEach(call::supersede);
        boolean narrows = clip.min() > to.min() || clip.max() < to.max();
        return narrows ? call.emit(clip, List.of(result)) : result;
    }

    /** {@code fixed_point_multiply} of a layer's sums, or of bytes less a zero point. */
    private Optional<Arg> product(Arg scaled, DType to, int zeroPoint) {
        Optional<Binding> product = call.producer(scaled).filter(b -> b.op() instanceof FixedPointMultiply);
        if (product.isEmpty() || !areConstant(product.get())) {
            return Optional.empty();
        }
        Binding by = product.get();
        passed.add(scaled);
        Arg data = by.args().get(0);
        TensorType type = call.type(data);
        Optional<Constant> multiplier = perChannel(by.constant(1), type);
        Optional<Constant> shift = perChannel(by.constant(FixedPointMultiply.SHIFT), type);
        if (multiplier.isEmpty() || shift.isEmpty() || !by.type().equals(type)) {
            return Optional.empty();
        }
        int before = passed.size();
        Optional<Centred> bytes =
                centred(data).filter(c -> call.type(c.data()).dtype().bytes() < Integer.BYTES);
        if (bytes.isEmpty()) {
            passed.subList(before, passed.size()).clear();
        }
        int least = bytes.isPresent() ? SHIFT_OF_ONE - SPARE_BITS : SHIFT_OF_ONE;
        for (int i = 0; i < shift.get().elements(); i++) {
            if (shift.get().integer(i) < least) {
                return Optional.empty();
            }
        }
        for (int i = 0; i < multiplier.get().elements(); i++) {
            if (multiplier.get().integer(i) < 0) {
                return Optional.empty();
            }
        }
        Constant left = Constant.integers(
                "", shift.get().type(), i -> SHIFT_OF_ONE - shift.get().integer(i));
        FixedPointMultiply op = (FixedPointMultiply) by.op();
        return Optional.of(call.emit(
                new TflRequantize(-1, bytes.map(Centred::zeroPoint).orElse(0), zeroPoint, to, op.rounding()),
                List.of(bytes.map(Centred::data).orElse(data), multiplier.get(), left)));
    }

    /** {@code cast(round(divide(x, scale)))}. */
    private Optional<Arg> quotient(Arg scaled, DType to, int zeroPoint) {
        Optional<Binding> cast = call.producer(scaled, new Cast(DType.INT32));
        Optional<Binding> rounded = cast.flatMap(b -> call.producer(b.args().get(0)))
                .filter(b -> b.op().equals(new Unary(Unary.Kind.ROUND_AWAY)));
        Optional<Binding> quotient = rounded.flatMap(b -> call.producer(b.args().get(0)))
                .filter(b -> b.op().equals(new Binary(Binary.Kind.DIVIDE)))
                .filter(b -> b.args().get(1) instanceof Constant c
                        && c.elements() == 1
                        && c.real(0) > 0
                        && Float.isFinite(c.real(0))
                        && call.type(b.args().get(0)).equals(b.type()));
        if (quotient.isEmpty() || to == DType.UINT8) {
            return Optional.empty();
        }
        passed.add(scaled);
        passed.add(cast.orElseThrow().args().get(0));
        passed.add(rounded.orElseThrow().args().get(0));
        Binding by = quotient.get();
        return Optional.of(call.emit(
                new QnnQuantize(to),
                List.of(by.args().get(0), Constant.scalar(by.constant(1).real(0)), Constant.scalar(zeroPoint))));
    }

    /**
     * Small integers and their zero point.
     *
     * @param data int8, uint8 or int16
     */
    private record Centred(Arg data, int zeroPoint) {}

    /** {@code subtract(cast(x), zero)}, or the cast alone. */
    private Optional<Centred> centred(Arg words) {
        Optional<Binding> difference = call.producer(words, new Binary(Binary.Kind.SUBTRACT));
        Optional<Constant> zero = difference
                .filter(b -> b.args().get(1) instanceof Constant c && c.elements() == 1)
                .map(b -> b.constant(1));
        Arg wide = words;
        if (zero.isPresent()) {
            passed.add(words);
            wide = difference.orElseThrow().args().get(0);
        }
        Optional<Binding> cast = call.producer(wide, new Cast(DType.INT32));
        if (cast.isEmpty()) {
            return Optional.empty();
        }
        Arg data = cast.get().args().get(0);
        DType own = call.type(data).dtype();
        long zeroPoint = zero.map(c -> c.integer(0)).orElse(0L);
        boolean isSmall = own == DType.INT8 || own == DType.UINT8 || own == DType.INT16;
        boolean fits = isSmall
                && zeroPoint >= own.min()
                && zeroPoint <= own.max()
                && call.type(words).shape().equals(call.type(data).shape());
        if (fits) {
            passed.add(wide);
        }
        return fits ? Optional.of(new Centred(data, (int) zeroPoint)) : Optional.empty();
    }

    private static boolean areConstant(Binding product) {
        return product.args().get(1) instanceof Constant
                && product.args().get(FixedPointMultiply.SHIFT) instanceof Constant;
    }

    /** The operand of a sum that is a single number. */
    private static Optional<Constant> scalar(Binding sum) {
        return sum.args().stream()
                .filter(a -> a instanceof Constant c && c.elements() == 1)
                .map(Constant.class::cast)
                .findFirst()
                .filter(c -> other(sum, c) instanceof Arg.Ref);
    }

    private static Arg other(Binding sum, Constant side) {
        return sum.args().get(0) == side ? sum.args().get(1) : sum.args().get(0);
    }

    /** A vector of one element, or one for each element of the last dimension; empty for any other shape. */
    private static Optional<Constant> perChannel(Constant constant, TensorType data) {
        Shape own = constant.type().shape();
        boolean isVector = own.rank() > 0
                && own.rank() <= data.shape().rank()
                && own.dim(-1) == own.elements()
                && own.dim(-1) == data.shape().dim(-1);
        if (constant.elements() != 1 && !isVector) {
            return Optional.empty();
        }
        Shape vector = constant.elements() == 1 ? Shape.scalar() : Shape.of(constant.elements());
        return Optional.of(
                new Constant("", new TensorType(vector, constant.type().dtype()), constant.data()));
    }

    /**
     * Recognises a product with a fixed-point number that TVM expands in int64 (FixedPointMultiplyToNearest and similar in
     * src/relay/qnn/utils.cc): {@code cast(right_shift(add(multiply(left_shift(cast(x)), m), rounder), s))}.
     */
    private static final class LongProducts {
        private final CallSite call;
        private final List<Arg> passed = new ArrayList<>();

        private LongProducts(CallSite call) {
            this.call = call;
        }

        /** The operator that computes a value of int64, cast to int32; empty if there is none. */
        static Optional<Arg> narrowed(CallSite call, Arg value) {
            return new LongProducts(call).narrowed(value);
        }

        private Optional<Arg> narrowed(Arg value) {
            Optional<Binding> shift =
                    step(value, Binary.Kind.RIGHT_SHIFT).filter(b -> b.args().get(1) instanceof Constant);
            Optional<Binding> sum = shift.flatMap(b -> step(b.args().get(0), Binary.Kind.ADD));
            if (sum.isEmpty()) {
                return Optional.empty();
            }
            Constant right = shift.orElseThrow().constant(1);
            for (int side = 0; side < 2; side++) {
                Arg product = sum.get().args().get(side);
                Optional<Rounding> rounding = rounding(sum.get().args().get(1 - side), product, right);
                if (rounding.isPresent() && product instanceof Arg.Ref) {
                    return product(product, right, rounding.get());
                }
            }
            return Optional.empty();
        }

        private Optional<Binding> step(Arg arg, Binary.Kind kind) {
            passed.add(arg);
            return call.producer(arg, new Binary(kind));
        }

        private Optional<Arg> product(Arg arg, Constant right, Rounding rounding) {
            Optional<Binding> product = step(arg, Binary.Kind.MULTIPLY);
            Optional<Constant> multiplier = product.flatMap(b -> b.args().stream()
                    .filter(Constant.class::isInstance)
                    .map(Constant.class::cast)
                    .findFirst());
            if (multiplier.isEmpty()) {
                return Optional.empty();
            }
            Arg factor = product.orElseThrow()
                    .args()
                    .get(product.orElseThrow().args().get(0) == multiplier.get() ? 1 : 0);
            Optional<Binding> left = call.producer(factor)
                    .filter(b -> b.op().equals(new Binary(Binary.Kind.LEFT_SHIFT))
                            && b.args().get(1) instanceof Constant);
            left.ifPresent(b -> passed.add(factor));
            Arg wide = left.map(b -> b.args().get(0)).orElse(factor);
            Optional<Binding> cast = call.producer(wide, new Cast(DType.INT64));
            boolean isWord = cast.filter(b -> call.type(b.args().get(0)).dtype() == DType.INT32)
                    .isPresent();
            if (!isWord) {
                return Optional.empty();
            }
            passed.add(wide);
            Constant before = left.map(b -> b.constant(1)).orElse(Constants.scalar(0, DType.INT64));
            return emit(cast.orElseThrow().args().get(0), multiplier.get(), right, before, rounding);
        }

        private Optional<Arg> emit(Arg data, Constant multiplier, Constant right, Constant left, Rounding rounding) {
            Optional<Shape> shape = common(List.of(multiplier, right, left));
            if (shape.isEmpty()) {
                return Optional.empty();
            }
            TensorType type = new TensorType(shape.get(), DType.INT32);
            int[] shifts = new int[Math.toIntExact(shape.get().elements())];
            for (int i = 0; i < shifts.length; i++) {
                long shift = at(right, i) - at(left, i);
                long by = at(multiplier, i);
                boolean fits =
                        shift >= 1 && shift <= FixedPointMultiply.MOST_SHIFT && by == (int) by && at(left, i) >= 0;
                if (!fits) {
                    return Optional.empty();
                }
                shifts[i] = (int) shift;
            }
            passed.forEach(call::supersede);
            return Optional.of(call.emit(
                    new FixedPointMultiply(rounding),
                    List.of(
                            data,
                            Constant.integers("", type, i -> at(multiplier, i)),
                            Constant.integers("", type, i -> shifts[i]))));
        }

        /** The rounding of the added term: half of the divisor, or one less for negative numbers. */
        private Optional<Rounding> rounding(Arg rounder, Arg product, Constant shift) {
            if (rounder instanceof Constant half) {
                return isHalf(half, shift, 0) ? Optional.of(Rounding.UPWARD) : Optional.empty();
            }
            Optional<Binding> where = call.producer(rounder)
                    .filter(b -> b.op() instanceof Where
                            && b.args().get(1) instanceof Constant
                            && b.args().get(2) instanceof Constant);
            Optional<Binding> condition = where.flatMap(
                            b -> call.producer(b.args().get(0)))
                    .filter(b -> b.op().equals(new Binary(Binary.Kind.GREATER_EQUAL))
                            && b.args().get(0).equals(product)
                            && b.args().get(1) instanceof Constant zero
                            && isZero(zero));
            boolean isNearest = condition.isPresent()
                    && isHalf(where.orElseThrow().constant(1), shift, 0)
                    && isHalf(where.orElseThrow().constant(2), shift, -1);
            if (isNearest) {
                passed.add(rounder);
                passed.add(where.orElseThrow().args().get(0));
            }
            return isNearest ? Optional.of(Rounding.TONEAREST) : Optional.empty();
        }

        private static boolean isZero(Constant constant) {
            for (int i = 0; i < constant.elements(); i++) {
                if (constant.integer(i) != 0) {
                    return false;
                }
            }
            return true;
        }

        private static boolean isHalf(Constant constant, Constant shift, int more) {
            Optional<Shape> shape = common(List.of(constant, shift));
            if (shape.isEmpty()) {
                return false;
            }
            for (int i = 0; i < shape.get().elements(); i++) {
                long by = at(shift, i);
                if (by < 1 || by > FixedPointMultiply.MOST_SHIFT || at(constant, i) != (1L << (by - 1)) + more) {
                    return false;
                }
            }
            return true;
        }

        /** The shape of the constants with more than one element, without leading dimensions of 1; empty if they differ. */
        private static Optional<Shape> common(List<Constant> constants) {
            List<Shape> shapes = constants.stream()
                    .filter(c -> c.elements() != 1)
                    .map(c -> c.type().shape())
                    .distinct()
                    .toList();
            return shapes.size() > 1
                    ? Optional.empty()
                    : Optional.of(shapes.stream().findFirst().orElse(Shape.scalar()));
        }

        private static long at(Constant constant, int index) {
            return constant.integer(constant.elements() == 1 ? 0 : index);
        }
    }
}
