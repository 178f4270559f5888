// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * {@code QuantizeLinear}: {@code saturate(round(x / scale) + zeroPoint)}, halves to even. Its input is computed in integers where possible.
 */
final class QuantizeLinearImporter implements OnnxImporter {
    private static final float STEPS = 255;

    @Override
    public void emit(NodeContext node) {
        ElementType precision =
                ElementType.ofCode((int) node.whole("precision", 0)).orElse(ElementType.UNDEFINED);
        node.require(
                precision == ElementType.UNDEFINED || precision == ElementType.FLOAT,
                "its precision is " + precision.text(),
                "a division in float");
        boolean hasBlocks = node.whole("block_size", 0) != 0;
        ElementType type = node.has(2)
                ? node.element(2)
                : ElementType.ofCode((int) node.whole("output_dtype", 0))
                        .filter(t -> t != ElementType.UNDEFINED)
                        .orElse(ElementType.UINT8);
        int rank = node.shape(0).rank();
        int axis = rank == 0 ? 0 : node.axis(node.whole("axis", rank == 1 ? 0 : 1), rank);
        boolean areBytes = type == ElementType.INT8 || type == ElementType.UINT8;
        if (areBytes && !hasBlocks && node.element(0).isFloat() && ElementQuantization.areConstant(node, 1, 2)) {
            ElementQuantization to = ElementQuantization.read(node, 1, 2, axis, type);
            if (to.isPerTensor()) {
                node.finish(0, QuantizedBytes.value(node, bytes(node, node.input(0), to), type));
                return;
            }
        }
        boolean areShorts = type == ElementType.INT16 || type == ElementType.UINT16;
        Optional<Arg> shorts = areShorts && !hasBlocks && ElementQuantization.areConstant(node, 1, 2)
                ? shorts(node, ElementQuantization.read(node, 1, 2, axis, type))
                : Optional.empty();
        if (shorts.isPresent()) {
            node.finish(0, QuantizedBytes.ofShorts(node, shorts.get(), type));
            return;
        }
        boolean isOther = type == ElementType.UINT16 || type.isPartOfByte();
        node.require(
                areBytes || isOther || type == ElementType.INT16,
                "its result is " + type.text(),
                "integers of at most 16 bits");
        node.finish(0, isOther ? limited(node, type, axis) : computed(node, type, axis));
    }

    /** The bytes of a value, computed in integers if possible. */
    static Arg bytes(NodeContext node, OnnxValue value, ElementQuantization to) {
        return value.form()
                .flatMap(form -> QuantizedForms.quantized(node, form, to, IntegerForm.Limits.NONE))
                .orElseGet(() -> node.emit(
                        new QnnQuantize(DType.INT8, Rounding.ONNX),
                        value.arg(),
                        Constant.scalar(to.scale()),
                        Constant.scalar(to.zeroPoint())));
    }

    /** The integers of 16 bits of what layers compute in integers. */
    private static Optional<Arg> shorts(NodeContext node, ElementQuantization to) {
        return node.input(0)
                .form()
                .filter(form -> to.isPerTensor() && form instanceof IntegerForm.Deferred sums && sums.canBeWide())
                .flatMap(form -> ((IntegerForm.Deferred) form).quantized(to, IntegerForm.Limits.WIDE));
    }

    /** The definition, for types that the IR holds in wider ones. */
    private static OnnxValue limited(NodeContext node, ElementType type, int axis) {
        float low = type.isUnsigned() ? 0 : -(1 << (type.bits() - 1));
        Arg limited = node.emit(new Clip(low, low + (1 << type.bits()) - 1), steps(node, axis));
        return new OnnxValue(node.cast(limited, type.held().orElseThrow()), type);
    }

    private static Arg steps(NodeContext node, int axis) {
        Arg real = node.cast(node.arg(0), DType.FLOAT32);
        Arg steps = node.unary(Unary.Kind.ROUND, node.divide(real, DequantizeLinearImporter.spread(node, 1, axis)));
        return node.has(2)
                ? node.add(steps, node.cast(DequantizeLinearImporter.spread(node, 2, axis), DType.FLOAT32))
                : steps;
    }

    /** The definition, for several scales or computed ones: rounded first, then converted. */
    private static OnnxValue computed(NodeContext node, ElementType type, int axis) {
        Arg steps = steps(node, axis);
        boolean isUnsigned = type == ElementType.UINT8;
        Arg integers = node.emit(
                new QnnQuantize(type == ElementType.INT16 ? DType.INT16 : DType.INT8, Rounding.ONNX),
                steps,
                Constant.scalar(1f),
                Constant.scalar(isUnsigned ? Byte.MIN_VALUE : 0));
        return type == ElementType.INT16
                ? new OnnxValue(integers, type, Optional.empty())
                : QuantizedBytes.value(node, integers, type);
    }

    /**
     * {@code DynamicQuantizeLinear}: the range of the data and 0 is divided into 255 steps; the results are the bytes as
     * uint8, the step (scale) and the byte of 0 (zero point). An empty range has steps of 1
     * (GetQuantizationParameter in core/util/qmath.h of ONNX Runtime).
     */
    static void dynamic(NodeContext node) {
        node.require(
                node.element(0) == ElementType.FLOAT,
                "its data is " + node.element(0).text(),
                "float");
        Arg low = node.minimum(extreme(node, Reduce.Kind.MIN), node.real(0));
        Arg high = node.maximum(extreme(node, Reduce.Kind.MAX), node.real(0));
        Arg one = node.real(1);
        Arg step = node.divide(node.subtract(high, low), node.real(STEPS));
        Arg scale = node.where(node.equal(low, high), one, step);
        Arg place = node.divide(node.subtract(node.real(0), low), scale);
        Arg zero = node.unary(Unary.Kind.ROUND, node.emit(new Clip(0, STEPS), place));
        Arg rounded = node.unary(Unary.Kind.ROUND, node.divide(node.arg(0), scale));
        Arg bytes = node.emit(
                new QnnQuantize(DType.INT8, Rounding.ONNX),
                node.add(rounded, zero),
                Constant.scalar(1f),
                Constant.scalar((int) Byte.MIN_VALUE));
        node.finish(0, QuantizedBytes.value(node, bytes, ElementType.UINT8));
        node.finish(1, scale, ElementType.FLOAT);
        node.finish(2, node.cast(zero, DType.UINT8), ElementType.UINT8);
    }

    private static Arg extreme(NodeContext node, Reduce.Kind kind) {
        List<Integer> axes = IntStream.range(0, node.shape(0).rank()).boxed().toList();
        Arg extreme = axes.isEmpty() ? node.arg(0) : node.reduce(kind, node.arg(0), axes);
        return node.reshape(extreme, Shape.scalar());
    }
}
