// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.TflLookup;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.reduce.TflSum;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * What the kernels of TensorFlow Lite's library compute where they differ from those of TensorFlow Lite Micro, which Kiln follows: the
 * imported function with the one step changed. The library's answers are those of the changed function, for equality.
 */
public final class LibraryKernels {
    static final String DENSE = "its matrix product rounds the rescaled sum once";

    private LibraryKernels() {}

    /** ELU (activations.cc, EluPrepare): expm1 in single precision; Micro's elu.cc takes exp and subtracts 1. */
    static Function expm1(Function function) {
        Quantization in = quantizationOfInput(function);
        Quantization out = quantizationOfOutput(function);
        float inverse = 1 / out.scale();
        return withTable(function, value -> {
            float x = in.scale() * (value - in.zeroPoint());
            float y = x < 0 ? (float) Math.expm1(x) : x;
            return (int) FixedPoint.roundHalfAway(y * inverse) + out.zeroPoint();
        });
    }

    /** SUB (sub.cc, PrepareGeneralSubOp): the quotients of the scales in double precision; Micro's in single. */
    static Function doubleQuotients(Function function) {
        return replaced(function, (binding, more) -> {
            if (!binding.op().equals(new QnnBinary(QnnBinary.Kind.SUBTRACT))) {
                return binding;
            }
            DType dtype = binding.type().dtype();
            int left = dtype == DType.INT16 ? 15 : 20;
            double twiceLargest = 2 * Math.max((double) scale(binding, 2), (double) scale(binding, 4));
            Arg lhs = more.scaled(binding, 0, 3, left, scale(binding, 2) / twiceLargest);
            Arg rhs = more.scaled(binding, 1, 5, left, scale(binding, 4) / twiceLargest);
            Arg difference = more.add(new Binary(Binary.Kind.SUBTRACT), binding, lhs, rhs);
            QuantizedMultiplier by = QuantizedMultiplier.of(twiceLargest / ((1 << left) * (double) scale(binding, 6)));
            int zeroPoint = (int) binding.constant(7).integer(0);
            return with(
                    binding,
                    new TflRequantize(-1, 0, zeroPoint, dtype),
                    List.of(difference, Constant.scalar(by.multiplier()), Constant.scalar(by.shift())));
        });
    }

    /** SUM (optimized_ops.h, QuantizedMeanOrSum): the sum is rescaled in single precision; Micro's in fixed point. */
    static Function singleSum(Function function) {
        Quantization in = quantizationOfInput(function);
        Quantization out = quantizationOfOutput(function);
        return replaced(function, (binding, more) -> {
            if (!(binding.op() instanceof TflRequantize)) {
                return binding;
            }
            Binding sum = function.bindingsById().get(((Arg.Ref) binding.args().get(0)).id());
            long terms = ((TflSum) sum.op()).terms(more.type(sum.args().get(0)).shape());
            float scale = in.scale() / out.scale();
            float bias = -in.zeroPoint() * scale * terms;
            Arg raw = more.add(sum.op(), binding, sum.args().get(0), Constant.scalar(0));
            Arg real = more.add(new Cast(DType.FLOAT32), binding, raw);
            Arg scaled = more.add(new Binary(Binary.Kind.MULTIPLY), binding, real, Constant.scalar(scale));
            Arg shifted = more.add(new Binary(Binary.Kind.ADD), binding, scaled, Constant.scalar(bias));
            Arg rounded = more.add(new Unary(Unary.Kind.ROUND_AWAY), binding, shifted);
            Arg words = more.add(new Cast(DType.INT32), binding, rounded);
            Arg centred = more.add(new Binary(Binary.Kind.ADD), binding, words, Constant.scalar(out.zeroPoint()));
            DType dtype = binding.type().dtype();
            Arg limited = more.add(new Clip(dtype.min(), dtype.max()), binding, centred);
            return with(binding, new Cast(dtype), List.of(limited));
        });
    }

    /**
     * FULLY_CONNECTED of int8, even if the reference kernels are asked for: the library's matrix product takes the exact product of sum
     * and multiplier and rounds once, halves upward. TensorFlow Lite's reference code, and all its other layers here, round twice.
     */
    public static Function roundingDenseOnce(Function function) {
        Set<Integer> sums = new HashSet<>();
        return replaced(function, (binding, more) -> {
            boolean isBias = binding.op() instanceof BiasAdd && sums.contains(binding.ref(0));
            if (binding.op() instanceof QnnDense || isBias) {
                sums.add(binding.id());
            }
            if (binding.op() instanceof TflRequantize twice
                    && twice.outDtype() == DType.INT8
                    && sums.contains(binding.ref(0))) {
                return with(binding, roundingOnce(twice), binding.args());
            }
            return binding;
        });
    }

    /** FULLY_CONNECTED of int16 (reference/integer_ops/fully_connected.h): each sum times the real factor, rounded once, halves away from zero. */
    static List<List<Bytes>> realDense(Function function, List<List<Bytes>> rounds) {
        Binding rescaled = only(function, TflRequantize.class);
        Binding dense = only(function, QnnDense.class);
        double in = quantizationOfInput(function).scale();
        double out = quantizationOfOutput(function).scale();
        Constant weights = dense.constant(Layer.KERNEL_SCALE);
        Optional<Clip> clip = function.bindings().stream()
                .filter(b -> b.op() instanceof Clip)
                .map(b -> (Clip) b.op())
                .findFirst();
        int units = dense.type().shape().dim(-1);
        return rounds.stream()
                .map(inputs -> {
                    Constant sums = new Constant(
                            "",
                            function.types().get(rescaled.ref(0)),
                            Interpreter.runAll(function, inputs).get(rescaled.ref(0)));
                    ByteBuffer answer =
                            ByteBuffer.allocate(Short.BYTES * sums.elements()).order(ByteOrder.LITTLE_ENDIAN);
                    for (int i = 0; i < sums.elements(); i++) {
                        double by = in * weights.real(weights.elements() == 1 ? 0 : i % units) / out;
                        long rounded = FixedPoint.roundHalfAway(sums.integer(i) * by);
                        answer.putShort((short) FixedPoint.clamp(
                                rounded, (long) (double) clip.map(Clip::min).orElse((double) Short.MIN_VALUE), (long)
                                        (double) clip.map(Clip::max).orElse((double) Short.MAX_VALUE)));
                    }
                    return List.of(Bytes.wrap(answer.array()));
                })
                .toList();
    }

    private static Binding only(Function function, Class<? extends Op> op) {
        return function.bindings().stream()
                .filter(binding -> op.isInstance(binding.op()))
                .findFirst()
                .orElseThrow();
    }

    private static TflRequantize roundingOnce(TflRequantize twice) {
        return new TflRequantize(
                twice.axis(), twice.inputZeroPoint(), twice.outputZeroPoint(), twice.outDtype(), Rounding.UPWARD);
    }

    /** Replaces one binding; further ones, which it reads, go before it. */
    private interface Replacement {
        Binding of(Binding binding, Before more);
    }

    /** Bindings before the one that is replaced. */
    private static final class Before {
        private final List<Binding> list;
        private final Function function;
        private int next;

        Before(Function function, List<Binding> list) {
            this.function = function;
            this.list = list;
            this.next =
                    function.types().keySet().stream().mapToInt(i -> i).max().orElse(0) + 1;
        }

        TensorType type(Arg arg) {
            return arg instanceof Constant constant
                    ? constant.type()
                    : list.stream()
                            .filter(b -> b.id() == ((Arg.Ref) arg).id())
                            .map(Binding::type)
                            .findFirst()
                            .orElseGet(() -> function.types().get(((Arg.Ref) arg).id()));
        }

        Arg add(Op op, Binding origin, Arg... args) {
            TensorType type = op.infer(List.of(args).stream().map(this::type).toList());
            list.add(new Binding(next, op, List.of(args), type, origin.origin()));
            return new Arg.Ref(next++);
        }

        /** An operand less its zero point, shifted to the left and multiplied. */
        Arg scaled(Binding binding, int operand, int zeroPoint, int left, double by) {
            QuantizedMultiplier multiplier = QuantizedMultiplier.of(by);
            Arg words = add(new Cast(DType.INT32), binding, binding.args().get(operand));
            Arg centred = add(new Binary(Binary.Kind.SUBTRACT), binding, words, Constant.scalar((int)
                    binding.constant(zeroPoint).integer(0)));
            Arg shifted = add(new Binary(Binary.Kind.LEFT_SHIFT), binding, centred, Constant.scalar(left));
            return add(
                    new TflRequantize(-1, 0, 0, DType.INT32),
                    binding,
                    shifted,
                    Constant.scalar(multiplier.multiplier()),
                    Constant.scalar(multiplier.shift()));
        }
    }

    private static Function replaced(Function function, Replacement replacement) {
        List<Binding> all = new ArrayList<>();
        Before before = new Before(function, all);
        function.bindings().forEach(binding -> all.add(replacement.of(binding, before)));
        return function.withBindings(all);
    }

    private static Binding with(Binding binding, Op op, List<Arg> args) {
        return new Binding(binding.id(), op, args, binding.type(), binding.origin());
    }

    private static Function withTable(Function function, IntUnaryOperator answer) {
        byte[] table = new byte[1 << Byte.SIZE];
        IntStream.range(0, table.length)
                .forEach(i -> table[i] =
                        (byte) FixedPoint.clamp(answer.applyAsInt(i + Byte.MIN_VALUE), Byte.MIN_VALUE, Byte.MAX_VALUE));
        return replaced(
                function,
                (binding, more) -> binding.op() instanceof TflLookup
                        ? with(
                                binding,
                                binding.op(),
                                List.of(
                                        binding.args().get(0),
                                        new Constant("", binding.constant(1).type(), Bytes.wrap(table))))
                        : binding);
    }

    private static float scale(Binding binding, int position) {
        return binding.constant(position).real(0);
    }

    /** One that is not there belongs to float32, which the replaced steps do not have. */
    private static Quantization quantizationOfInput(Function function) {
        return function.params().get(0).quantization().orElse(new Quantization(1, 0));
    }

    private static Quantization quantizationOfOutput(Function function) {
        return function.results().get(0).quantization().orElse(new Quantization(1, 0));
    }
}
