// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.pattern;

import io.kiln.base.DType;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Constants;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.FixedPointMultiply;
import io.kiln.ir.op.element.Where;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Recognises a product with a fixed-point number that TVM expands in int64 (FixedPointMultiplyToNearest and similar in
 * src/relay/qnn/utils.cc): {@code cast(right_shift(add(multiply(left_shift(cast(x)), m), rounder), s))}.
 */
final class LongProducts {
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
        return call.producer(arg).filter(b -> b.op().equals(new Binary(kind)));
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
        Arg factor =
                product.orElseThrow().args().get(product.orElseThrow().args().get(0) == multiplier.get() ? 1 : 0);
        Optional<Binding> left = call.producer(factor)
                .filter(b -> b.op().equals(new Binary(Binary.Kind.LEFT_SHIFT))
                        && b.args().get(1) instanceof Constant);
        left.ifPresent(b -> passed.add(factor));
        Arg wide = left.map(b -> b.args().get(0)).orElse(factor);
        Optional<Binding> cast = call.producer(wide).filter(b -> b.op().equals(new Cast(DType.INT64)));
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
            boolean fits = shift >= 1 && shift <= FixedPointMultiply.MOST_SHIFT && by == (int) by && at(left, i) >= 0;
            if (!fits) {
                return Optional.empty();
            }
            shifts[i] = (int) shift;
        }
        passed.forEach(call::supersede);
        return Optional.of(call.emit(
                new FixedPointMultiply(rounding),
                List.of(data, Constants.of("", type, i -> at(multiplier, i)), Constants.of("", type, i -> shifts[i]))));
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
        Optional<Binding> condition = where.flatMap(b -> call.producer(b.args().get(0)))
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
