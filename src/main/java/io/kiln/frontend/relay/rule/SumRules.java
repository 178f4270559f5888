// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import io.kiln.base.DType;
import io.kiln.frontend.relay.pattern.Rescalings;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Value;
import io.kiln.frontend.relay.value.Value.Constants;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.QnnConv2dTranspose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Sums, differences and products. A constant added to a layer's int32 sums for each channel is its bias; several of
 * these, into which TVM expands zero points, are one bias, because int32 wraps around.
 */
final class SumRules {
    private SumRules() {}

    /** {@code add}: of tensors, of constants, or of a layer's sums and a bias. */
    static Value add(CallSite call) {
        return unsigned(call, Binary.Kind.ADD)
                .or(() -> bias(call, 0, 1, 1))
                .or(() -> bias(call, 1, 0, 1))
                .orElseGet(() -> ElementRules.binary(call, Binary.Kind.ADD));
    }

    /** {@code subtract}, in the same cases. */
    static Value subtract(CallSite call) {
        return unsigned(call, Binary.Kind.SUBTRACT)
                .or(() -> bias(call, 0, 1, -1))
                .orElseGet(() -> ElementRules.binary(call, Binary.Kind.SUBTRACT));
    }

    /** {@code multiply} of tensors or constants. */
    static Value multiply(CallSite call) {
        return unsigned(call, Binary.Kind.MULTIPLY)
                .or(() -> Rescalings.dequantized(call))
                .orElseGet(() -> ElementRules.binary(call, Binary.Kind.MULTIPLY));
    }

    /** Constants of uint32 or uint64, which no operator computes: their sums have the bits of signed sums, because both wrap around. */
    private static Optional<Value> unsigned(CallSite call, Binary.Kind kind) {
        DType dtype = call.value(0).type().dtype();
        boolean suits = dtype.isWideUnsigned()
                && !call.isOwn()
                && call.args().stream()
                        .allMatch(value ->
                                value.type().dtype() == dtype && value.arg() instanceof Constant && value.isPlain());
        if (!suits) {
            return Optional.empty();
        }
        DType signed = dtype.isLong() ? DType.INT64 : DType.INT32;
        Arg sum = call.emit(
                new Binary(kind),
                List.of(Constants.cast(call.constant(0), signed), Constants.cast(call.constant(1), signed)));
        Constant result = Constants.cast((Constant) sum, dtype);
        return Optional.of(Value.plain(result, result.type()));
    }

    static Value biasAdd(CallSite call) {
        int axis = call.attributes().integer("axis", -4, 3, 1);
        Value data = call.whole(call.value(0));
        boolean behindLayer = isSum(call, data.arg());
        if (behindLayer && data.channelsLast()) {
            return biased(call, data, ConvolutionRules.heldAxis(axis), call.plain(1), 1);
        }
        if (behindLayer || call.isOwn()) {
            Arg plain = call.plain(data);
            return biased(call, call.plain(plain), axis, call.plain(1), 1);
        }
        Shape bias = call.value(1).type().shape();
        int rank = data.type().shape().rank();
        if (bias.rank() != 1 || axis < -rank || axis >= rank) {
            throw new IllegalArgumentException("bias " + bias.text() + " does not fit axis " + axis + " of "
                    + data.type().shape().text());
        }
        List<Integer> dims = new ArrayList<>(Collections.nCopies(rank, 1));
        dims.set(axis < 0 ? axis + rank : axis, bias.dim(0));
        Arg wide = call.reshape(call.plain(1), new Shape(dims));
        return call.compute(new Binary(Binary.Kind.ADD), List.of(call.plain(data), wide));
    }

    private static Optional<Value> bias(CallSite call, int data, int bias, int sign) {
        Value sums = call.value(data);
        Value vector = call.value(bias);
        boolean suits = isWords(sums)
                && isWords(vector)
                && sums.isWhole()
                && isSum(call, sums.arg())
                && vector.arg() instanceof Constant
                && vector.isPlain();
        if (!suits || call.isOwn()) {
            return Optional.empty();
        }
        return perChannel(sums, (Constant) vector.arg())
                .map(constant -> sums.channelsLast()
                        ? biased(call, sums, -1, constant, sign)
                        : biased(call, Value.plain(call.plain(data), sums.type()), -1, constant, sign));
    }

    private static boolean isWords(Value value) {
        return value.type().dtype() == DType.INT32;
    }

    /** The layer's sums with a bias, combined with an existing bias. */
    private static Value biased(CallSite call, Value data, int axis, Arg bias, int sign) {
        Optional<Binding> before = call.producer(data.arg())
                .filter(b -> b.op() instanceof BiasAdd
                        && isWords(data)
                        && b.args().get(1) instanceof Constant
                        && bias instanceof Constant
                        && !call.isOwn());
        Arg sums = before.map(b -> b.args().get(0)).orElse(data.arg());
        Arg own = bias;
        if (before.isPresent() || sign < 0) {
            Constant more = (Constant) bias;
            Optional<Constant> first = before.map(b -> b.constant(1));
            own = Constant.integers(
                    more.name(), more.type(), i -> first.map(c -> c.integer(i)).orElse(0L) + sign * more.integer(i));
            before.ifPresent(b -> call.supersede(data.arg()));
        }
        Arg result = call.emit(new BiasAdd(axis), List.of(sums, own));
        return data.channelsLast() ? data.with(result, data.type()) : call.plain(result);
    }

    /** Whether a value is a layer's sums, with or without a bias. */
    private static boolean isSum(CallSite call, Arg arg) {
        Optional<Binding> producer = call.producer(arg);
        return producer.filter(b -> isLayer(b.op())).isPresent()
                || producer.filter(b -> b.op() instanceof BiasAdd).isPresent();
    }

    private static boolean isLayer(Op op) {
        return op instanceof QnnConv2d
                || op instanceof QnnDense
                || op instanceof QnnConv2dTranspose
                || op instanceof Conv2d
                || op instanceof Conv2dTranspose
                || op instanceof Dense;
    }

    /** A constant with one element for each channel, or one for all; empty for any other constant. */
    private static Optional<Constant> perChannel(Value data, Constant bias) {
        Shape shape = data.type().shape();
        int axis = data.channelsLast() ? 1 : shape.rank() - 1;
        int channels = shape.rank() == 0 ? 1 : shape.dim(axis);
        Shape own = bias.type().shape();
        int at = own.rank() - (shape.rank() - axis);
        boolean fits = own.rank() <= shape.rank()
                && (own.elements() == 1 || (at >= 0 && own.elements() == channels && own.dim(at) == channels));
        return fits
                ? Optional.of(Constant.integers(
                        bias.name(),
                        new TensorType(Shape.of(channels), DType.INT32),
                        i -> bias.integer(bias.elements() == 1 ? 0 : i)))
                : Optional.empty();
    }
}
